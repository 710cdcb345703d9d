package look

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// happening is an event as the program heard it.
type happening struct {
	at   time.Time
	text string
	echo bool // of a write of its own
}

// mostHappenings is how many are kept for one owner.
const mostHappenings = 16

// happenings are the latest events of one owner's objects, and when each write was last sent.
type happenings struct {
	events []happening
	sent   map[string]attempt // by method and path
}

// attempt is a write that was sent before, the time of what caused it, and how it ended.
type attempt struct {
	began, caused time.Time
	failed        string // "": it has succeeded
}

func (w *world) happened(root types.UID) *happenings {
	if known, ok := w.causes.Get(root); ok {
		return known.(*happenings)
	}
	h := &happenings{sent: map[string]attempt{}}
	w.causes.Add(root, h)
	return h
}

func (h *happenings) add(one happening) {
	if len(h.events) == mostHappenings {
		h.events = h.events[1:]
	}
	h.events = append(h.events, one)
}

// latest returns the last event before a time and after another one.
func (h *happenings) latest(before, after time.Time, echo bool) *happening {
	for i := len(h.events) - 1; i >= 0; i-- {
		if e := &h.events[i]; e.echo == echo && e.at.Before(before) && e.at.After(after) {
			return e
		}
	}
	return nil
}

// justNow is how old an event may be that may have caused two writes: it came while the first one was
// being made.
const justNow = 50 * time.Millisecond

// cause says because of what a write was sent, and notes that it was: see doc.go. What caused the
// same write before causes no second one, unless it came just now.
func (h *happenings) cause(w *write, failed string) (text string) {
	key := w.method + " " + w.path
	before := h.sent[key]
	now := attempt{w.began, w.began, failed}
	foreign, echo := h.latest(w.began, before.caused, false), h.latest(w.began, before.caused, true)
	if foreign == nil && echo == nil && before.failed == "" {
		foreign, echo = h.latest(w.began, w.began.Add(-justNow), false), h.latest(w.began, w.began.Add(-justNow), true)
	}
	switch {
	case foreign != nil:
		now.caused, text = foreign.at, fmt.Sprintf("because %s, %s before", foreign.text, ago(w.began.Sub(foreign.at)))
	case before.failed != "":
		text = fmt.Sprintf("again, %s after %s", ago(w.began.Sub(before.began)), before.failed)
	case echo != nil:
		now.caused, text = echo.at, fmt.Sprintf("because of its own write: %s, %s before", echo.text, ago(w.began.Sub(echo.at)))
	default:
		text = "cause not seen"
	}
	h.sent[key] = now
	return text
}

// ago is a duration as people read it.
func ago(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Millisecond).String()
	}
}
