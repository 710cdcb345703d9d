package look

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// happening is an event as the program heard it.
type happening struct {
	at     time.Time
	what   string
	by     string // another client
	echo   bool   // of a write of its own
	object *object
}

func (h *happening) String() string {
	if h.echo {
		return "of its own write: " + h.object.String() + " " + h.what
	}
	return h.object.String() + " " + h.what
}

const (
	// mostHappenings is how many are kept of one object, and of what it owns.
	mostHappenings = 16
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
	before, now     *object       // before is nil if it is not known
	noOp            bool
	// How often in a row it was caused by its own event, was undone, and was refused after the same pause.
	echoes, undone, steady int
}

// happened notes an event, by its object and by what owns that.
func (w *world) happened(h happening) {
	for _, uid := range []types.UID{h.object.UID, controllerOf(h.object).UID} {
		if uid != "" {
			w.causes.Add(string(uid), newest(append(w.causes.of(string(uid)), h)))
		}
	}
	w.all = newest(append(w.all, h))
}

// newest leaves out the first ones of too many.
func newest(all []happening) []happening { return all[max(0, len(all)-mostHappenings):] }

// near returns what happened to an object, its owner, what that owns, and what the object owns itself: a
// controller that makes Pods for a ReplicaSet sees no Deployment.
func (w *world) near(o *object) []happening {
	return slices.Concat(w.causes.of(string(o.UID)), w.causes.of(string(controllerOf(o).UID)))
}

// latest returns the last event between two times that is as it must be.
func latest(all []happening, after, before time.Time, is func(happening) bool) (last *happening) {
	for _, e := range all {
		if e.at.After(after) && e.at.Before(before) && is(e) && (last == nil || !e.at.Before(last.at)) {
			last = &e
		}
	}
	return last
}

// names reports whether what was sent has the name of an event's object as a value.
func (w *write) names(e happening) bool {
	return !e.echo && e.object.Namespace != "" && bytes.Contains(w.sent, []byte(`"`+e.object.Name+`"`))
}

// explain says because of what a write was sent: see doc.go. What caused the same write before causes
// no second one, unless it came just now.
func (w *write) explain(known *world) string {
	began, near := w.began, known.near(w.now)
	w.caused, w.last = began, &write{}
	if last := known.sent.of(w.key()); last != nil {
		w.last, w.pause = last, began.Sub(last.began)
	}
	since := func(after time.Time, isEcho bool) *happening {
		return latest(near, after, began, func(e happening) bool { return e.echo == isEcho })
	}
	foreign, echo := since(w.last.caused, false), since(w.last.caused, true)
	if foreign == nil && echo == nil && w.last.failed == "" {
		just := began.Add(-justNow)
		foreign, echo = since(just, false), since(just, true)
	}
	if foreign == nil && echo == nil && w.last.failed == "" {
		foreign = latest(known.all, w.last.caused, began, w.names)
	}
	switch {
	case foreign != nil:
		w.cause = foreign
	case w.last.failed != "":
		w.caused = w.last.began
		return fmt.Sprintf("again, %s after %s", ago(w.pause), w.last.failed)
	case echo != nil:
		w.cause = echo
	default:
		w.uncaused = true
		return "cause not seen: a resync, or a timer?"
	}
	w.caused = w.cause.at
	return fmt.Sprintf("because %s, %s before", w.cause, ago(began.Sub(w.caused)))
}

// ago is a duration as people read it.
func ago(d time.Duration) string { return d.Round(time.Millisecond).String() }
