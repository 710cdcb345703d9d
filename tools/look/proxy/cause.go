package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/observe/trace"
)

// happening is an event as the program received it.
type happening struct {
	*trace.Step
	what   string
	by     string // another client
	object *object
}

func (h *happening) String() string {
	text := h.object.String() + " was " + h.what
	if h.Echo {
		text = "of its own write: " + text
	}
	return text
}

const (
	// fresh is how old the event of an own write may be to cause a write. The event of another client
	// may be twice as old, and older while the program sends without a break: its queue may be long.
	fresh = time.Second
	// aBreak is the time without a request after which the queue is considered empty.
	aBreak = time.Second
	// mostLinks is how many of the newest events are searched for names and selectors.
	mostLinks = 64
)

// write is a write that was answered, or never will be.
type write struct {
	note
	last            *write // the previous write with this key; its own last is nil
	failed, changed string
	fields          string        // that it changed
	onlyTimes       bool          // time stamps changed, and nothing else
	cause           *happening    // nil for a retry, or if not found
	caused          time.Time     // the time of the cause
	isRetry         bool          // of a failed write
	pause           time.Duration // since last
	now             *object
	noOp            bool
	// How often in a row it was caused by its own event, undone, and rejected after the same pause.
	echoes, undone, steady int
}

// newest returns at most the last most elements.
func newest(all []happening, most int) []happening { return all[max(0, len(all)-most):] }

// latest returns the last event between two times for which is returns true, nil if not found.
func latest(all []happening, after, before time.Time, is func(*happening) bool) *happening {
	for i := len(all) - 1; i >= 0; i-- { // Thousands are examined: copy only the match.
		switch e := &all[i]; {
		case !e.Time.After(after):
			return nil
		case e.Time.Before(before) && is(e):
			return new(*e)
		}
	}
	return nil
}

// isNear reports whether two objects are the same, one owns the other, or both have the same owner.
// Grandparents do not count: a controller that creates Pods for a ReplicaSet watches no Deployments.
func isNear(a, b *object) bool {
	return slices.ContainsFunc(a.family, func(uid types.UID) bool { return slices.Contains(b.family, uid) })
}

// isLinked reports whether other names or selects o or its owner, or the other way around. A Namespace
// is linked to all its objects. An owner's owner is not linked: a Deployment selects the Pods of its
// ReplicaSets, but its controller acts on the ReplicaSets.
func (w *world) isLinked(other, o *object) bool {
	if other.resource == "namespaces" && other.Name == o.Namespace {
		return true
	}
	owner, otherOwner := w.byUID.of(string(controllerOf(o).UID)), w.byUID.of(string(controllerOf(other).UID))
	if owner != nil && isNear(owner, other) || otherOwner != nil && isNear(otherOwner, o) {
		return false
	}
	link := func(a, b *object) bool { return a.names(b) || b.names(a) || a.selects(b) || b.selects(a) }
	return link(other, o) || owner != nil && link(other, owner)
}

// explain chooses the cause of a write, as doc.go describes, and returns it in words. An event that
// caused the same write before does not cause it again.
func (w *write) explain(known *world) string {
	began, all := w.At, known.happened
	w.caused, w.last = began, &write{}
	if last := known.sent.of(w.key()); last != nil {
		w.last, w.pause = last, began.Sub(last.At)
	}
	find := func(echo bool, after time.Time) *happening {
		if after.Before(w.last.caused) {
			after = w.last.caused
		}
		near := latest(all, after, began, func(e *happening) bool { return e.Echo == echo && isNear(e.object, w.now) })
		if near != nil {
			after = near.Time
		}
		return cmp.Or(latest(newest(all, mostLinks), after, began, func(e *happening) bool {
			return e.Echo == echo && known.isLinked(e.object, w.now)
		}), near)
	}
	w.cause = find(false, known.busy.Add(-2*fresh))
	if w.isRetry = w.cause == nil && w.last.failed != ""; w.isRetry {
		w.caused = w.last.At
		return fmt.Sprintf("again, %s after %s", ago(w.pause), w.last.failed)
	}
	if w.cause == nil {
		w.cause = find(true, began.Add(-fresh))
	}
	if w.cause == nil {
		return "no cause seen: a timer, or a resync?"
	}
	w.caused = w.cause.Time
	return fmt.Sprintf("because %s, %s before", w.cause, ago(began.Sub(w.caused)))
}

func ago(d time.Duration) string { return d.Round(time.Millisecond).String() }
