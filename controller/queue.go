package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Queue holds the keys that wait for a worker. It is safe for concurrent use.
//
//   - Add enqueues the key of a changed object. A waiting key is not added twice. A key that a worker
//     holds is enqueued again when that worker calls Done.
//   - AddLowPriority enqueues a key whose object did not change. Keys of Add come first.
//   - Get waits for a key and returns it. No other worker gets this key before Done.
//   - Done ends the work on a key, after success and after failure.
//   - AddRateLimited starts a back-off: 5 ms after the first failure, then twice as long each time, up
//     to 30 s. Get returns the key only after the back-off.
//   - Forget ends the back-off and resets the number of failures. It does not replace Done.
//   - NumRequeues returns the number of failures since the last Forget.
//   - AddAfter enqueues the key after a delay.
//   - ShutDown makes the queue ignore new keys. Get returns the waiting keys, then shutdown.
type Queue interface {
	workqueue.TypedRateLimitingInterface[cache.ObjectName]
	AddLowPriority(key cache.ObjectName)
}

// RateLimiter returns the limiter that computes each key's back-off. client-go's default limiter also limits
// the retries of all keys to ten per second.
func RateLimiter() workqueue.TypedRateLimiter[cache.ObjectName] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, 30*time.Second)
}

// queue is client-go's queue with a back-off that Add does not end. In client-go's queue, an event enqueues the
// key at once, even during its back-off. So a write that another controller reverts would repeat 300 times a
// second, although the reconcile returns ErrReverted (TestEventDoesNotShortenBackOff).
type queue struct {
	workqueue.TypedRateLimitingInterface[cache.ObjectName]
	limiter workqueue.TypedRateLimiter[cache.ObjectName]
	lanes   *lanes // the order of the keys (priority.go)

	mu      sync.Mutex
	backOff map[cache.ObjectName]time.Time // the end of each key's back-off
}

// NewQueue returns an empty queue. name labels its metrics.
func NewQueue(name string) Queue {
	q := &queue{limiter: RateLimiter(), lanes: newLanes(), backOff: map[cache.ObjectName]time.Time{}}
	ordered := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Name: name, Queue: q.lanes})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{Name: name, Queue: ordered})
	q.TypedRateLimitingInterface = workqueue.NewTypedRateLimitingQueueWithConfig(q.limiter,
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{DelayingQueue: delaying})
	return q
}

func (q *queue) Add(key cache.ObjectName) {
	q.lanes.changed.Store(key, nil)
	q.TypedRateLimitingInterface.Add(key)
}

func (q *queue) AddLowPriority(key cache.ObjectName) { q.TypedRateLimitingInterface.Add(key) }

func (q *queue) AddRateLimited(key cache.ObjectName) {
	q.mu.Lock()
	delay := q.limiter.When(key)
	q.backOff[key] = time.Now().Add(delay)
	q.mu.Unlock()
	q.AddAfter(key, delay)
}

// Get returns a key whose back-off has ended. Add may enqueue a key earlier. AddAfter may, too: if
// a key has two delays, client-go keeps the shorter one. Get delays such a key again.
func (q *queue) Get() (key cache.ObjectName, shutdown bool) {
	for {
		key, shutdown = q.TypedRateLimitingInterface.Get()
		q.mu.Lock()
		remaining := time.Until(q.backOff[key])
		q.mu.Unlock()
		if shutdown || remaining <= 0 {
			return key, shutdown
		}
		q.AddAfter(key, remaining)
		q.Done(key)
	}
}

func (q *queue) Forget(key cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.backOff, key)
	q.limiter.Forget(key)
}
