package controller

import (
	"hash/fnv"
	"io"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Queue holds the keys that wait for a worker.
//
//   - Add: a key that is added twice before a worker takes it is in the queue once.
//     A key that is added while a worker has it comes back when that worker is done.
//   - Get: a worker takes a key. No other worker gets it before Done.
//   - Done: the worker gives the key back. Without Done the key never comes again.
//   - AddRateLimited: add the key after a delay, which doubles with each call.
//   - Forget: the next AddRateLimited begins with the shortest delay again.
//   - AddAfter: add the key after this delay.
//   - ShutDown: Get returns what is in the queue and then says shutdown.
type Queue = workqueue.TypedRateLimitingInterface[cache.ObjectName]

// NewQueue returns an empty queue. name labels its metrics. main uses NewPriorityQueue,
// which promises the same and more.
func NewQueue(name string) Queue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(RateLimiter(),
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: name})
}

// RateLimiter says how long a key that fails waits: 5 ms, then twice as long each time,
// up to 30 s, each less its jitter. The delay is the key's own. client-go's default
// limiter also allows only ten retries a second for all keys together, so that a
// thousand failing keys delay a good one.
func RateLimiter() workqueue.TypedRateLimiter[cache.ObjectName] {
	return jitter{workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, 30*time.Second)}
}

// jitter shortens the delays of each key by a share of its own, up to a half. Keys
// that failed together do not come back together.
type jitter struct {
	workqueue.TypedRateLimiter[cache.ObjectName]
}

// When implements workqueue.TypedRateLimiter.
func (j jitter) When(key cache.ObjectName) time.Duration {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, key.String())
	delay := j.TypedRateLimiter.When(key)
	return delay - delay/2*time.Duration(hash.Sum32()%1024)/1024
}
