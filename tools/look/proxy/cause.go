package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
)

// happening is an event as the program heard it.
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
	// mostNamed is how many of the newest events may be the cause because what is sent has a name.
	mostNamed = 16
	// justNow is how old an event may be that may have caused two writes: it came while the first one
	// was being made.
	justNow = 50 * time.Millisecond
)

// write is a write that was answered, or never will be.
type write struct {
	note
	last            *write // the same one before it, whose own last is nil
	from            string // the version that it was sent with
	failed, changed string
	cause           *happening    // nil for a retry, and if it was not seen
	caused          time.Time     // when that was
	uncaused        bool          // not seen
	pause           time.Duration // since the last one
	now             *object
	noOp            bool
	// How often in a row it was caused by its own event, was undone, and was refused after the same pause.
	echoes, undone, steady int
}

// newest leaves out the first ones of too many.
func newest(all []happening, most int) []happening { return all[max(0, len(all)-most):] }

// latest returns the last event between two times that is as it must be, nil if there is none.
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

// names reports whether what was sent has the name of an event's object as a value.
func (w *write) names(e *happening) bool {
	return !e.Echo && e.object.Namespace != "" && bytes.Contains(w.sent, []byte(`"`+e.object.Name+`"`))
}

// explain says because of what a write was sent: see doc.go. What caused the same write before causes
// no second one, unless it came just now.
func (w *write) explain(known *world) string {
	began, all := w.At, known.happened
	w.caused, w.last = began, &write{}
	if last := known.sent.of(w.key()); last != nil {
		w.last, w.pause = last, began.Sub(last.At)
	}
	foreign := func(e *happening) bool { return !e.Echo && isNear(e.object, w.now) }
	echo := func(e *happening) bool { return e.Echo && isNear(e.object, w.now) }
	since, just := w.last.caused, began.Add(-justNow)
	w.cause = latest(all, since, began, foreign)
	if w.cause == nil && w.last.failed != "" {
		w.caused = w.last.At
		return fmt.Sprintf("again, %s after %s", ago(w.pause), w.last.failed)
	}
	if w.cause == nil {
		w.sent = wire.JSON(w.sent)
		w.cause = cmp.Or(latest(all, since, began, echo), latest(all, just, began, foreign), latest(all, just, began, echo),
			latest(newest(all, mostNamed), since, began, w.names))
	}
	if w.uncaused = w.cause == nil; w.uncaused {
		return "cause not seen: a resync, or a timer?"
	}
	w.caused = w.cause.Time
	return fmt.Sprintf("because %s, %s before", w.cause, ago(began.Sub(w.caused)))
}

// ago is a duration as people read it.
func ago(d time.Duration) string { return d.Round(time.Millisecond).String() }
