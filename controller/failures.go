package controller

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Failures. Without this file the queue's back-off delays a retry and not an event, and
// what a reconcile causes itself is an event (TestNoHotLoop):
//
//	0.000 s  A webhook puts its own image and the time into each Deployment that is
//	         written. The reconcile updates the Deployment to have our image.
//	0.001 s  The watch delivers the Deployment, with the webhook's image and a new time.
//	         Its handler adds the key.
//	0.002 s  The reconcile updates the Deployment. And so on, hundreds of times a second.
//
// So an attempt that failed waits for its back-off, also when an event adds the key. There is
// one Failures for the Deployment and one for the status, which a webhook may change as well.

// Failures remembers, by key, the last attempt if it failed. The zero value is ready. It is
// safe for concurrent use.
type Failures struct {
	mu      sync.Mutex
	byKey   map[cache.ObjectName]Failure
	backOff workqueue.TypedRateLimiter[cache.ObjectName]
}

// Failure is the last of one or more equal attempts, all of which failed.
type Failure struct {
	// Err is the error of the last one.
	Err error
	// Lasts: they have failed for 10 s at least.
	Lasts bool

	attempt     string
	since, next time.Time
}

// Last returns the failure of the last attempt for key, the zero Failure if it succeeded. wait
// is how long the back-off still takes. It is 0 if attempt differs: this string says what an
// attempt is for, and equal attempts share a back-off.
func (f *Failures) Last(key cache.ObjectName, attempt string) (failure Failure, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	failure, failed := f.byKey[key]
	if failed && failure.attempt == attempt {
		wait = max(0, time.Until(failure.next))
	}
	return failure, wait
}

// Record notes how an attempt for key ended, and returns the failure. nil makes it forget the
// failures of key. After a Conflict wait is 0: PendingWrites waits for the newer object.
func (f *Failures) Record(key cache.ObjectName, attempt string, err error) (failure Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey == nil {
		f.byKey, f.backOff = map[cache.ObjectName]Failure{}, RateLimiter()
	}
	before, failedBefore := f.byKey[key]
	if failedBefore && (err == nil || before.attempt != attempt) {
		delete(f.byKey, key)
		f.backOff.Forget(key)
		before = Failure{}
	}
	if err == nil {
		return Failure{}
	}
	now := time.Now()
	failure = Failure{Err: err, attempt: attempt, since: before.since, next: now.Add(f.backOff.When(key))}
	if before.Err == nil {
		failure.since = now
	}
	if apierrors.IsConflict(err) {
		failure.next = now
	}
	failure.Lasts = now.Sub(failure.since) >= 10*time.Second
	f.byKey[key] = failure
	return failure
}
