package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Queue holds the keys that wait for a worker. A handler calls Add. A worker calls Get,
// reconciles, calls Forget or AddRateLimited, and in every case Done.
//
//   - Add: a key that is added twice before a worker takes it is in the queue once.
//     A key that is added while a worker has it comes back when that worker calls Done.
//   - Get: waits for a key and takes it. No other worker gets that key before Done: two would
//     decide from the same cache, and both would write.
//   - Done: gives the key back, after success and after failure. Without Done the queue
//     believes that a worker still has the key: it can be added, but no worker gets it
//     again until the program restarts.
//   - AddRateLimited: adds the key after a delay, which doubles with each call.
//   - Forget: ends the count of failures, so that the next AddRateLimited begins with the
//     shortest delay. Without Forget a key that failed often, long ago, waits 30 s after
//     its next failure. Forget does not replace Done.
//   - AddAfter: adds the key after this delay. Without it and AddRateLimited, a key that is
//     not done waits for an event or the resync.
//   - ShutDown: ignores every later Add, and drops keys whose delay is not over. Get
//     returns the keys that are left and then says shutdown.
type Queue = workqueue.TypedRateLimitingInterface[cache.ObjectName]

const shortestDelay, longestDelay = 5 * time.Millisecond, 30 * time.Second

// RateLimiter says how long a key that fails waits: 5 ms, then twice as long each time,
// up to 30 s. Each key has its own delay. client-go's default limiter
// also allows only ten retries a second for all keys together: a key that fails once waits
// behind a thousand that fail always.
func RateLimiter() workqueue.TypedRateLimiter[cache.ObjectName] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](shortestDelay, longestDelay)
}
