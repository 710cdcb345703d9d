package controller

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
)

// Failures. Without this file the queue's back-off delays a retry and not an event, and
// what a reconcile causes itself is an event (TestNoHotLoop):
//
//	0.000 s  Another controller wants another image. The reconcile updates the Deployment.
//	0.001 s  The other one sets its image again. The handler of that event adds the key.
//	0.002 s  The reconcile updates the Deployment. And so on, hundreds of times a second.
//
// So a write that is sent again waits for its back-off, whether it was refused or undone, and
// whatever adds the key. Only the first correction does not wait, and the first try after a
// Conflict. Each write has its own: what is refused holds up nothing else.

// ErrUndone is why a write waits that has succeeded.
var ErrUndone = errors.New("it is undone again and again: does another program change or delete it?")

// ErrLeft says that a write has stored something else than it was to store, and that this may still be
// there. Each try may leave one more, so without a change of the spec it is tried seldom.
var ErrLeft = errors.New("what was stored may be left")

// stoodFor is how long a write must not be wanted for its back-off to begin anew. One that takes long
// may wait long for its turn (slow.go): until somebody has looked, it is remembered for slowTimes as long
// as it takes. Of more than mostRemembered what nobody has looked at for longest is forgotten: a user may
// make and delete objects without end.
const stoodFor, slowTimes, mostRemembered = time.Minute, 1200, 50_000

// lastsFrom is when a failure lasts, or if one try took as long as hangsFrom. undoneFrom is how often a
// write has succeeded before it is said that others undo it.
const lastsFrom, hangsFrom, undoneFrom = 10 * time.Second, 5 * time.Second, 6

// Failures remembers, by the UID of an object, which writes were sent for it, how they ended, and
// what people were told of it. What is not wanted any more is forgotten after a while. It is safe for
// concurrent use.
type Failures struct {
	attempts, told *cache.LRUExpireCache
}

// NewFailures returns one that remembers nothing yet.
func NewFailures() *Failures {
	return &Failures{attempts: cache.NewLRUExpireCache(mostRemembered), told: cache.NewLRUExpireCache(mostRemembered)}
}

// attemptID names a write: the operation and what it changes, for the object that wants it.
type attemptID struct {
	uid   types.UID
	write string
}

// attempt is a write that was sent once or more often for one generation of an object.
type attempt struct {
	generation int64
	purpose    string
	err        error // how it ended the last time
	// ended is when the last try ended, and took how long it took.
	ended time.Time
	took  time.Duration
	// failed is how often in a row it has failed, done how often it has succeeded.
	failed, done int
	since        time.Time // when it first failed, or was wanted again. Zero: it is not wanted
	next         time.Time // when it may be sent again
	// refused is a version that the API server has refused: not to be sent again before until.
	refused string
	until   time.Time
}

// Write is what Try sends.
type Write struct {
	// Name is the operation, and what it changes if an object may want it for several. Title is the
	// name for people, "" if it is the same.
	Name, Title string
	// Purpose: what has succeeded for another one was not undone.
	Purpose string
	// Version is that of the cached object from which the write is made, "" if there is none. After a
	// Conflict or NotFound it is not sent again until the cache has another, or for 20 s.
	Version string
	// New says that the object is new: a success need not be remembered, which saves the memory of
	// a start with many of them.
	New bool
}

// Failure is a write that is wanted, and that the API server has not done, or others undo.
type Failure struct {
	Write string
	Err   error
	// Lasts: for 10 s at least, or one try took 5 s, or undone many times.
	Lasts bool
	// Wait is how long until the write may be sent again.
	Wait time.Duration
	// Sent: just now.
	Sent bool
}

// Try sends a write for an object, unless it waits for its back-off, and returns the failure, with a
// nil Err if there is none. A new generation of the object has no back-off to wait for. send is nil if
// the write is not wanted now: its failure is not told, but for one that others have undone often, until
// it has stood for a minute. Not for concurrent use with the same object.
func (f *Failures) Try(object metav1.Object, w Write, send func() error) Failure {
	id := attemptID{object.GetUID(), w.Name}
	known, _ := f.attempts.Get(id)
	a, _ := known.(attempt)
	if a.generation != object.GetGeneration() || a.err == nil && a.purpose != w.Purpose {
		// What failed for the generation before still lasts.
		a = attempt{err: a.err, since: a.since, ended: a.ended, took: a.took, refused: a.refused, until: a.until}
	}
	a.generation, a.purpose = object.GetGeneration(), w.Purpose
	if send != nil && a.since.IsZero() {
		a.since = time.Now()
	}
	isBehind := w.Version != "" && a.refused == w.Version && time.Until(a.until) > 0
	wait := time.Until(a.next) // once: what is not sent must come back
	sent := send != nil && !isBehind && wait <= 0
	if sent {
		a.send(string(id.uid), w, send)
		wait = time.Until(a.next)
	}
	// A race, or a look that shows an old cache, lasts only if the tries have gone on for so long.
	passes := isRace(a.err) || errors.Is(a.err, ErrCacheBehind)
	lasts := a.err != nil && (a.ended.Sub(a.since) >= lastsFrom || !passes && (time.Since(a.since) >= lastsFrom || a.took >= hangsFrom))
	undone := a.done >= undoneFrom && !lasts && !IsRefusal(a.err)
	if send == nil {
		return f.notWanted(id, w, a, undone)
	}
	failure := Failure{Write: w.Name, Err: a.err, Wait: max(0, wait), Sent: sent, Lasts: undone || lasts}
	if undone || a.err == nil && !sent {
		failure.Err = w.failed(ErrUndone)
	}
	if isBehind {
		failure.Wait = max(failure.Wait, CacheRetry)
	}
	switch {
	case sent && a.err == nil && w.New:
		f.attempts.Remove(id)
	case a.err == nil:
		f.attempts.Add(id, a, max(stoodFor, slowTimes*a.took))
	default:
		f.attempts.Add(id, a, max(2*stoodFor, 2*failure.Wait, slowTimes*a.took))
		f.attempts.Add(attemptID{uid: id.uid}, attempt{}, time.Hour)
	}
	return failure
}

// notWanted notes that a write is not wanted now.
func (f *Failures) notWanted(id attemptID, w Write, a attempt, undone bool) Failure {
	switch hasStood := time.Since(a.ended) >= stoodFor; {
	case undone && !hasStood: // Look again whether it is forgotten.
		return Failure{Write: w.Name, Err: w.failed(ErrUndone), Lasts: true, Wait: lastsFrom}
	case a.err == nil && a.done > 0 && hasStood:
		f.attempts.Remove(id)
	case a.err != nil && !a.since.IsZero():
		a.since = time.Time{} // If it is wanted again within a minute, its back-off goes on.
		f.attempts.Add(id, a, stoodFor)
	}
	return Failure{}
}

// failed returns the error with the name of the write before it.
func (w Write) failed(err error) error { return fmt.Errorf("%s: %w", cmp.Or(w.Title, w.Name), err) }

// send sends the write and notes how it ended.
func (a *attempt) send(uid string, w Write, send func() error) {
	began, before := time.Now(), a.err
	if a.err = send(); a.err == nil {
		a.failed, a.done = 0, a.done+1
	} else {
		a.failed, a.err = a.failed+1, w.failed(a.err)
	}
	if before == nil {
		a.since = began
	}
	a.ended, a.took, a.refused = time.Now(), time.Since(began), ""
	a.next = a.ended
	if isRace(a.err) {
		a.refused, a.until = w.Version, a.ended.Add(outdatedTimeout)
	}
	switch {
	case apierrors.HasStatusCause(a.err, corev1.NamespaceTerminatingCause), errors.Is(a.err, ErrLeft):
		// As long again as it has lasted. A namespace that is being deleted takes the object with it, unless
		// it was made anew.
		a.next = a.ended.Add(min(max(time.Minute, a.ended.Sub(a.since)), time.Hour))
	case a.failed+a.done > 1, a.err != nil && !apierrors.IsConflict(a.err):
		a.next = a.ended.Add(backOff(uid, a.failed+a.done+3)) // 40 ms, 80 ms and so on
	}
}

// backOff is the delay after so many failures in a row, one at least: 5 ms, then twice as long each
// time, up to 30 s, less up to a half. The fraction differs from name to name, so that what failed
// together does not come back together.
func backOff(name string, failures int) time.Duration {
	delay := min(shortestDelay<<min(failures-1, 20), longestDelay)
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return delay - delay/2*time.Duration(hash.Sum32()%1024)/1024
}

// Failed reports whether a write for an object has failed within about an hour.
func (f *Failures) Failed(object metav1.Object) bool {
	_, ok := f.attempts.Get(attemptID{uid: object.GetUID()})
	return ok
}

// Tried returns when a write for an object was last tried, the zero time if that is not remembered.
func (f *Failures) Tried(object metav1.Object, write string) time.Time {
	known, _ := f.attempts.Get(attemptID{object.GetUID(), write})
	a, _ := known.(attempt)
	return a.ended
}

// renewAfter is when the message of a cause that goes on is renewed, and toldFor when one that
// has ended, or whose object nobody has reconciled for longer than the usual resync, is new again.
const renewAfter, toldFor = 5 * time.Minute, 15 * time.Minute

// told is what people were told of a cause, for which generation, and since when.
type told struct {
	message    string
	generation int64
	at         time.Time
}

// Told returns what to tell people of a cause that goes on: what they were told first, for five
// minutes, because another message differs in an identifier or in a number. A new generation of the
// object has the new one. isNew: people were not told of it before.
func (f *Failures) Told(object metav1.Object, cause, message string) (stable string, isNew bool) {
	id := attemptID{object.GetUID(), cause}
	known, ok := f.told.Get(id)
	t, _ := known.(told)
	if t.generation != object.GetGeneration() || time.Since(t.at) >= renewAfter {
		t = told{message, object.GetGeneration(), time.Now()}
	}
	f.told.Add(id, t, toldFor)
	return t.message, !ok
}

// IsRefusal reports whether the API server understood a request and refused it. No event says
// when that ends.
func IsRefusal(err error) bool {
	// Without a reason, as in a webhook's denial, these look at the HTTP status code.
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
