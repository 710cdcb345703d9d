package controller

import (
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
)

// Failures. Without this file the queue's back-off delays a retry and not an event, and
// what a reconcile causes itself is an event (TestNoHotLoop):
//
//	0.000 s  Another controller wants another image. The reconcile updates the Deployment.
//	0.001 s  The other one sets its image again. The handler of that event adds the key.
//	0.002 s  The reconcile updates the Deployment. And so on, hundreds of times a second.
//
// So a write that is sent again waits for its back-off, whether it was refused or undone, and
// whatever adds the key. Each write has its own: what is refused holds up nothing else.

// errUndone is why a write waits that has succeeded.
var errUndone = errors.New("it is undone again and again: does another program set these fields?")

const (
	// stoodFor is how long a write must not be needed again for its back-off to begin anew.
	stoodFor = time.Minute
	// lastsFrom is when a failure lasts.
	lastsFrom = 10 * time.Second
	// renewAfter is when the message of a cause that goes on is renewed.
	renewAfter = 5 * time.Minute
)

// Failures remembers, by key, which writes were sent, how they ended, and what people were told
// of it. The zero value is ready. It is safe for concurrent use.
type Failures struct {
	mu    sync.Mutex
	byKey map[cache.ObjectName]*history
}

// history is what is remembered of one key.
type history struct {
	sent map[string]*attempt // by write: the operation and the object
	told map[string]told     // by cause
}

// attempt is a write that was sent once or more often, for one purpose.
type attempt struct {
	purpose    string
	err        error     // how it ended the last time
	last, next time.Time // when it was sent, and may be sent again
	// since is when it first failed or was undone; zero: it stands.
	since time.Time
	// failures in a row, and successes of which none has stood for a minute. From the second
	// success on, all attempts count as successes.
	failures, successes int
	// refused is the version that the API server no longer has.
	refused string
}

type told struct {
	message string
	at      time.Time
}

// Failure is a write that is wanted, and that the API server has not done, or others undo.
type Failure struct {
	Write string
	Err   error
	// Lasts: for 10 s at least.
	Lasts bool
	// Wait is how long until the write may be sent again.
	Wait time.Duration
	// Sent: just now.
	Sent bool
}

// Try sends a write for key, unless it waits for its back-off, and returns the failure, with a
// nil Err if send returned nil. write names the operation and the object. purpose says what it
// is for: another purpose does not wait. version is that of the cached object from which the
// write is made, "" if there is none: one that the API server has refused is not sent again
// until the cache has another, or for outdatedTimeout. Workers call Try with different keys.
func (f *Failures) Try(key cache.ObjectName, write, purpose, version string, send func() error) Failure {
	sent, now := f.of(key).sent, time.Now()
	a := sent[write]
	if a == nil {
		a = &attempt{}
		sent[write] = a
	}
	if a.purpose != purpose || a.err == nil && now.Sub(a.last) >= stoodFor {
		before := *a
		if *a = (attempt{purpose: purpose}); before.refused != "" {
			a.refused, a.err, a.last = before.refused, before.err, before.last
		}
	}
	failure := Failure{Write: write, Err: a.err, Wait: a.next.Sub(now)}
	switch {
	case apierrors.HasStatusCause(a.err, corev1.NamespaceTerminatingCause):
		failure.Wait = 0 // It never ends.
		return failure
	case a.refused != "" && a.refused == version && now.Sub(a.last) < outdatedTimeout:
		failure.Wait = max(failure.Wait, cacheRetry)
	case a.successes > 0 && a.err == nil:
		failure.Err = fmt.Errorf("%s: %w", write, errUndone)
	}
	if failure.Err != nil && a.since.IsZero() {
		a.since = now
	}
	if failure.Wait <= 0 {
		failure.Sent = true
		failure.Err = a.send(write, version, send)
		a.next = a.last.Add(a.backOff(key))
		failure.Wait = time.Until(a.next)
	}
	failure.Lasts = failure.Err != nil && time.Since(a.since) >= lastsFrom
	return failure
}

// send sends the write and notes how it ended.
func (a *attempt) send(write, version string, send func() error) error {
	before, begin := a.err, time.Now()
	if a.err = send(); a.err != nil {
		a.err = fmt.Errorf("%s: %w", write, a.err)
	}
	a.last = time.Now()
	switch {
	case a.err == nil && before != nil:
		a.failures, a.since = 0, time.Time{}
		a.successes++
	case a.err == nil:
		a.successes++
	default:
		if a.since.IsZero() {
			a.since = begin
		}
		if a.successes > 1 {
			a.successes++ // It is undone where it succeeds: one back-off for both.
		} else {
			a.failures++
		}
		if apierrors.IsConflict(a.err) || apierrors.IsNotFound(a.err) {
			a.refused = version
		}
	}
	return a.err
}

// backOff is how long after the last time the write waits. What has succeeded is sent once more
// at once, and after a Conflict the newer object is awaited, twice.
func (a *attempt) backOff(key cache.ObjectName) time.Duration {
	n := a.failures + max(0, a.successes-1)
	if n == 0 || n < 3 && apierrors.IsConflict(a.err) {
		return 0
	}
	return backOff(key, n)
}

// of returns what is remembered of key. Only the worker that has the key uses it.
func (f *Failures) of(key cache.ObjectName) *history {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey == nil {
		f.byKey = map[cache.ObjectName]*history{}
	}
	if f.byKey[key] == nil {
		f.byKey[key] = &history{sent: map[string]*attempt{}}
	}
	return f.byKey[key]
}

// Tried reports whether a write was sent for key.
func (f *Failures) Tried(key cache.ObjectName) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byKey[key] != nil
}

// Forget forgets a key whose object is gone.
func (f *Failures) Forget(key cache.ObjectName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, key)
}

// Message returns what people are told of a cause: what they were told first, for five minutes.
// Another message of the same cause differs in an identifier or in a number.
func (f *Failures) Message(key cache.ObjectName, cause, message string) string {
	if t, ok := f.of(key).told[cause]; ok && time.Since(t.at) < renewAfter {
		return t.message
	}
	return message
}

// Told notes that people were told these causes of key, with these messages, and no others. It
// returns those that are new.
func (f *Failures) Told(key cache.ObjectName, messages map[string]string) (news []string) {
	h := f.of(key)
	before := h.told
	h.told = map[string]told{}
	for cause, message := range messages {
		t, ok := before[cause]
		if !ok {
			news = append(news, cause)
		}
		if t.message != message {
			t = told{message, time.Now()}
		}
		h.told[cause] = t
	}
	return news
}
