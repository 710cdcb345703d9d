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
	// fresh is how old an event of an own write may be that caused a write. An event of another client may
	// be twice as old, and older while the program sends without a break: its queue may be long.
	fresh = time.Second
	// aBreak is a time without a request, after which the queue is empty.
	aBreak = time.Second
	// mostLinks is how many of the newest events may be the cause because of a name or a selector.
	mostLinks = 64
	// justNow is how old an event may be that caused two writes: it came during the first one.
	justNow = 50 * time.Millisecond
)

// write is a write that was answered, or never will be.
type write struct {
	note
	last            *write // the same one before it, whose own last is nil
	failed, changed string
	fields          string        // that it changed
	onlyTimes       bool          // time stamps changed, and nothing else
	cause           *happening    // nil for a retry, and if it was not seen
	caused          time.Time     // when that was
	isRetry         bool          // of one that failed
	pause           time.Duration // since the last one
	now             *object
	noOp            bool
	// How often in a row it was caused by its own event, was undone, and was rejected after the same pause.
	echoes, undone, steady int
}

// newest leaves out the first ones of too many.
func newest(all []happening, most int) []happening { return all[max(0, len(all)-most):] }

// latest returns the last event between two times that is as it must be, nil if not found.
func latest(all []happening, after, before time.Time, is func(*happening) bool) *happening {
	for i := len(all) - 1; i >= 0; i-- { // Thousands are looked at: none is copied.
		switch e := &all[i]; {
		case !e.Time.After(after):
			return nil
		case e.Time.Before(before) && is(e):
			return new(*e)
		}
	}
	return nil
}

// isNear reports whether two objects are one, one owns the other, or both have the same owner: a
// controller that makes Pods for a ReplicaSet sees no Deployment.
func isNear(a, b *object) bool {
	return slices.ContainsFunc(a.family, func(uid types.UID) bool { return slices.Contains(b.family, uid) })
}

// isLinked reports whether an object, or its owner, names or selects another one, or the other way
// around. A Namespace is linked to all that is in it. The owner of an owner is not: a Deployment selects
// the Pods of its ReplicaSets, but the ReplicaSets are what its controller acts on.
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

// explain returns because of what a write was sent: see doc.go. What caused the same write before causes
// no second one, unless it came just now.
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
		w.last.caused = time.Time{}
		w.cause = cmp.Or(find(false, began.Add(-justNow)), find(true, began.Add(-justNow)))
	}
	if w.cause == nil {
		return "no cause seen: a timer, or a resync?"
	}
	w.caused = w.cause.Time
	return fmt.Sprintf("because %s, %s before", w.cause, ago(began.Sub(w.caused)))
}

// ago is a duration as people read it.
func ago(d time.Duration) string { return d.Round(time.Millisecond).String() }
