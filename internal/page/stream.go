package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/byhand/internal/trace"
)

const (
	// mostStreams is how many browsers may read at a time.
	mostStreams = 16
	// mostSteps and mostBytes bound one event, so that a browser draws between two.
	mostSteps, mostBytes = 250, 128 << 10
	// together is how long a step waits for others to travel with.
	together = 40 * time.Millisecond
	// heartbeat is how often a quiet stream shows that it lives.
	heartbeat = 15 * time.Second
	// readsWithin is how long a browser may take to read an event.
	readsWithin = 10 * time.Second
	// comeBack is how long a browser waits before it connects again.
	comeBack = time.Second
)

// stream sends the steps of a Source to every browser that asks.
type stream struct {
	source  Source
	options Options
	// process is the id of this process among all that have had its address.
	process string
	// patience is how long a browser may take to read an event.
	patience time.Duration
	// free holds a token for each browser that may still come.
	free chan struct{}
}

func newStream(source Source, o Options) *stream {
	s := &stream{source: source, options: o, patience: readsWithin, free: make(chan struct{}, mostStreams)}
	s.process = strconv.FormatInt(time.Now().UnixNano(), 36)
	for range mostStreams {
		s.free <- struct{}{}
	}
	return s
}

// hello is the first event of each stream.
type hello struct {
	Process string `json:"process"`
	// Resumed says that the steps go on after the one that the browser has seen last.
	Resumed bool `json:"resumed"`
	// Kept is how many steps come at once, from before.
	Kept      int    `json:"kept"`
	Recording string `json:"recording,omitempty"`
	Notice    string `json:"notice,omitempty"`
}

// news is each further event.
type news struct {
	Steps []trace.Step `json:"steps"`
	// Lost is how many steps this browser was too slow for, since it connected.
	Lost int64 `json:"lost,omitempty"`
	// Kept says that the steps are from before the browser connected.
	Kept bool `json:"kept,omitempty"`
}

// ServeHTTP sends the steps until the browser goes, does not read, or the server
// ends.
func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.free:
		defer func() { s.free <- struct{}{} }()
	default:
		http.Error(w, fmt.Sprintf("%d browsers read already; close one", mostStreams), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := &events{w: w, control: http.NewResponseController(w), process: s.process, patience: s.patience}
	// A stream has no end by which it must be written; each of its events has.
	_ = out.control.SetReadDeadline(time.Time{})
	if r.Method == http.MethodHead {
		return
	}
	_ = s.send(r.Context(), out, seen(r))
}

// seen is the id of the last event that the browser knows, "" for none.
func seen(r *http.Request) string {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	// What a page sends that begins a stream of its own.
	return r.URL.Query().Get("after")
}

func (s *stream) send(ctx context.Context, out *events, id string) error {
	backlog, steps := s.source.Subscribe()
	defer steps.Stop()
	process, text, _ := strings.Cut(id, "-")
	last, err := strconv.ParseInt(text, 10, 64)
	resumed := err == nil && process == s.process
	for resumed && len(backlog) > 0 && backlog[0].Seq <= last {
		backlog = backlog[1:]
	}

	greeting := hello{Process: s.process, Resumed: resumed, Kept: len(backlog), Recording: s.options.Recording, Notice: s.options.Notice}
	if err := out.hello(greeting); err != nil {
		return err
	}
	for len(backlog) > 0 {
		n := min(len(backlog), mostSteps)
		if err := out.news(backlog[:n], 0, true); err != nil {
			return err
		}
		backlog = backlog[n:]
	}
	return follow(ctx, out, steps)
}

// follow sends each new step, several at a time, until ctx is done or no more will
// come.
func follow(ctx context.Context, out *events, steps Subscription) error {
	var lost, told int64
	for {
		batch, missed, pending, ended := gather(ctx, steps)
		lost += missed
		switch {
		case len(batch) > 0 || lost+pending > told:
			told = lost + pending
			if err := out.news(batch, told, false); err != nil {
				return err
			}
		case !ended:
			if err := out.write(": nothing new\n\n"); err != nil {
				return err
			}
		}
		if ended {
			return ctx.Err()
		}
	}
}

// gather waits for a step and returns it with those that come within a moment, as
// many as travel together. After a while without any it returns none. lost is how
// many were lost before these, pending how many since. ended says that ctx is done
// or no more will come.
func gather(ctx context.Context, steps Subscription) (batch []trace.Step, lost, pending int64, ended bool) {
	first, lost, ok, ended := within(ctx, steps, heartbeat)
	if !ok {
		return nil, 0, lost, ended
	}
	batch = append(batch, first)
	until := time.Now().Add(together)
	for len(batch) < mostSteps {
		step, missed, ok, ended := within(ctx, steps, time.Until(until))
		if !ok {
			return batch, lost, missed, ended
		}
		lost += missed
		batch = append(batch, step)
	}
	return batch, lost, 0, false
}

// within is Next with a time by which it returns.
func within(ctx context.Context, steps Subscription, patience time.Duration) (step trace.Step, lost int64, ok, ended bool) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	step, lost, ok = steps.Next(soon)
	return step, lost, ok, !ok && (soon.Err() == nil || ctx.Err() != nil)
}

// events writes server-sent events, each within patience.
type events struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	process  string
	patience time.Duration
}

func (e *events) hello(h hello) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return e.write("retry: %d\nevent: hello\ndata: %s\n\n", comeBack.Milliseconds(), data)
}

// news writes the steps as one event, or as several if they are large.
func (e *events) news(steps []trace.Step, lost int64, kept bool) error {
	data, err := encode(news{Steps: steps, Lost: lost, Kept: kept})
	if err != nil {
		return err
	}
	if len(data) > mostBytes && len(steps) > 1 {
		half := len(steps) / 2
		if err := e.news(steps[:half], lost, kept); err != nil {
			return err
		}
		return e.news(steps[half:], lost, kept)
	}
	id := ""
	if n := len(steps); n > 0 {
		id = fmt.Sprintf("id: %s-%d\n", e.process, steps[n-1].Seq)
	}
	return e.write("%sevent: news\ndata: %s\n\n", id, data)
}

// encode returns the JSON form, on one line. An object that is not JSON is left
// out: a recording may hold anything.
func encode(n news) ([]byte, error) {
	data, err := json.Marshal(n)
	if err == nil {
		return bytes.TrimSpace(data), nil
	}
	steps := make([]trace.Step, len(n.Steps))
	for i, step := range n.Steps {
		if !json.Valid(step.Object) {
			step.Object = nil
		}
		steps[i] = step
	}
	n.Steps = steps
	return json.Marshal(n)
}

func (e *events) write(format string, args ...any) error {
	// A browser that does not read is not waited for any longer.
	if err := e.control.SetWriteDeadline(time.Now().Add(e.patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, format, args...); err != nil {
		return err
	}
	return e.control.Flush()
}
