package look

import (
	"bytes"
	"fmt"
	"path"
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

func (h *happening) String() string { return h.object.name() + " " + h.what }

const (
	// mostHappenings is how many are kept for one owner.
	mostHappenings = 16
	// mostSent is how many writes are known for one owner.
	mostSent = 256
)

// happenings are the latest events of one owner's objects, and how each write was last sent.
type happenings struct {
	events []happening
	sent   map[string]attempt // by method, path and name
}

// Why a write was sent.
const (
	byEvent  = "another's event"
	byEcho   = "own event"
	again    = "retry"
	byNobody = "not seen"
)

// attempt is a write that was sent: when, why, the time of its cause, and what came of it.
type attempt struct {
	began, caused        time.Time
	why, failed, changed string
	cause                *happening
	pause                time.Duration // since the one before
	// In a row: caused by an event of its own; without a longer pause after the same refusal; the
	// same change again.
	echoes, steady, undone int
}

func (w *world) happened(o *object) *happenings {
	root, _ := w.root(o)
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

// latest returns the last event before a time and after another one that is as it must be.
func (h *happenings) latest(before, after time.Time, is func(*happening) bool) *happening {
	for i := len(h.events) - 1; i >= 0; i-- {
		if e := &h.events[i]; e.at.Before(before) && e.at.After(after) && is(e) {
			return new(*e)
		}
	}
	return nil
}

func isEcho(e *happening) bool    { return e.echo }
func isForeign(e *happening) bool { return !e.echo }

// justNow is how old an event may be that may have caused two writes: it came while the first one was
// being made.
const justNow = 50 * time.Millisecond

// cause says because of what a write was sent, and how the same one was sent before: see doc.go. What
// caused the same write before causes no second one, unless it came just now.
func (w *world) cause(h *happenings, n note, sent []byte, failed string) (last, now attempt, text string) {
	last = h.sent[n.key()]
	now = attempt{began: n.began, caused: n.began, failed: failed}
	since := last.caused
	foreign, echo := h.latest(n.began, since, isForeign), h.latest(n.began, since, isEcho)
	if foreign == nil && echo == nil && last.failed == "" {
		since = n.began.Add(-justNow)
		foreign, echo = h.latest(n.began, since, isForeign), h.latest(n.began, since, isEcho)
	}
	if foreign == nil && echo == nil && last.failed == "" {
		foreign = w.all.latest(n.began, last.caused, func(e *happening) bool {
			return !e.echo && e.object.namespace != "" && bytes.Contains(sent, []byte(`"`+path.Base(e.object.key)+`"`))
		})
	}
	switch {
	case foreign != nil:
		now.why, now.cause, text = byEvent, foreign, "because "
	case last.failed != "":
		now.why, now.caused = again, last.began
		return last, now, fmt.Sprintf("again, %s after %s", ago(n.began.Sub(last.began)), last.failed)
	case echo != nil:
		now.why, now.cause, text = byEcho, echo, "because of its own write: "
	default:
		now.why = byNobody
		return last, now, "cause not seen"
	}
	now.caused = now.cause.at
	return last, now, fmt.Sprintf("%s%s, %s before", text, now.cause, ago(n.began.Sub(now.caused)))
}

// key is what a write is known by.
func (x *exchange) key() string { return x.method + " " + x.path + " " + x.name }

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
