package look

import (
	"bytes"
	"fmt"
	"slices"
	"time"
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
	// mostHappenings is how many are kept for one owner.
	mostHappenings = 16
	// justNow is how old an event may be that may have caused two writes: it came while the first one
	// was being made.
	justNow = 50 * time.Millisecond
)

// happenings are the latest events of one owner's objects.
type happenings []happening

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
}

func (w *world) happened(o *object) *happenings {
	root, _ := w.root(o)
	h := w.causes.of(string(root))
	if h == nil {
		h = &happenings{}
		w.causes.Add(string(root), h)
	}
	return h
}

func (h *happenings) add(one happening) {
	if len(*h) == mostHappenings {
		*h = (*h)[1:]
	}
	*h = append(*h, one)
}

// latest returns the last event between two times that is as it must be.
func (h *happenings) latest(after, before time.Time, is func(happening) bool) *happening {
	for _, e := range slices.Backward(*h) {
		if e.at.After(after) && e.at.Before(before) && is(e) {
			return new(e)
		}
	}
	return nil
}

// isNear reports whether an event is of the object that is written, of its owner, of what that owns, or
// of what it owns itself: a controller that makes Pods for a ReplicaSet sees no Deployment.
func (w *write) isNear(e happening) bool {
	own, owner, its := w.now.UID, controllerOf(w.now).UID, controllerOf(e.object).UID
	return e.object.UID == own || e.object.UID == owner || its != "" && (its == own || its == owner)
}

// names reports whether what was sent has the name of an event's object as a value.
func (w *write) names(e happening) bool {
	return !e.echo && e.object.Namespace != "" && bytes.Contains(w.sent, []byte(`"`+e.object.Name+`"`))
}

// explain says because of what a write was sent: see doc.go. What caused the same write before causes
// no second one, unless it came just now.
func (w *write) explain(known *world) string {
	began, h := w.began, known.happened(w.now)
	w.caused, w.last = began, &write{}
	if last := known.sent.of(w.key()); last != nil {
		w.last, w.pause = last, began.Sub(last.began)
	}
	var foreign, echo *happening
	for _, since := range []time.Time{w.last.caused, began.Add(-justNow)} {
		for _, isFar := range []bool{false, true} {
			if foreign == nil && echo == nil && (since == w.last.caused || w.last.failed == "") {
				foreign = h.latest(since, began, func(e happening) bool { return !e.echo && (isFar || w.isNear(e)) })
				echo = h.latest(since, began, func(e happening) bool { return e.echo && (isFar || w.isNear(e)) })
			}
		}
	}
	if foreign == nil && echo == nil && w.last.failed == "" {
		foreign = known.all.latest(w.last.caused, began, w.names)
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
func ago(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
