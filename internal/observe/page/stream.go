package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/byhand/internal/observe/trace"
)

const (
	// mostBytes is about how many bytes of steps one event has, so that a browser can draw between
	// events.
	mostBytes = 128 << 10
	// heartbeat is how often a quiet stream sends a comment.
	heartbeat = 15 * time.Second
)

// stream sends the steps of a History to every browser that asks.
type stream struct {
	source  *trace.History
	options Options
	// process is the id of this process among all processes at its address.
	process string
}

func newStream(source *trace.History, o Options) *stream {
	return &stream{source: source, options: o, process: strconv.FormatInt(time.Now().UnixNano(), 36)}
}

// ServeHTTP sends the steps until the browser disconnects, or the server shuts down.
func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := &events{w: w, control: http.NewResponseController(w), stream: s}
	// A stream has no deadline.
	_ = out.control.SetReadDeadline(time.Time{})
	_ = out.control.SetWriteDeadline(time.Time{})
	if r.Method == http.MethodHead {
		return
	}
	_ = out.send(r.Context(), r.Header.Get("Last-Event-ID"))
}

// events writes server-sent events to one browser.
type events struct {
	*stream
	w       http.ResponseWriter
	control *http.ResponseController
}

// send sends the steps after the event with this id.
func (e *events) send(ctx context.Context, id string) error {
	process, text, _ := strings.Cut(id, "-")
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil || process != e.process {
		last = 0
	}
	steps := e.source.Kept(last)
	err = e.event("hello", "", map[string]any{"process": e.process, "recording": e.options.Recording, "outside": e.options.Outside, "shell": e.options.Shell})
	for kept := true; err == nil; kept = false {
		if err := e.news(steps, kept); err != nil {
			return err
		}
		if len(steps) > 0 {
			last = steps[len(steps)-1].Seq
		}
		quiet, cancel := context.WithTimeout(ctx, heartbeat)
		steps = e.source.Read(quiet, last)
		over := len(steps) == 0 && quiet.Err() == nil
		cancel()
		if over || len(steps) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(steps) == 0 {
			err = e.write(": nothing new\n\n")
		}
	}
	return err
}

// news writes the steps as one event, or as several if they are large. kept says that they are older
// than the connection.
func (e *events) news(steps []*trace.Step, kept bool) error {
	batch, bytes := []json.RawMessage{}, 0
	for i, step := range steps {
		data, err := json.Marshal(step)
		if err != nil {
			return err
		}
		batch, bytes = append(batch, data), bytes+len(data)
		if bytes < mostBytes && i < len(steps)-1 {
			continue
		}
		if err := e.event("news", fmt.Sprintf("id: %s-%d\n", e.process, step.Seq), map[string]any{"steps": batch, "kept": kept}); err != nil {
			return err
		}
		batch, bytes = nil, 0
	}
	return nil
}

func (e *events) event(name, id string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return e.write("%sevent: %s\ndata: %s\n\n", id, name, data)
}

func (e *events) write(format string, args ...any) error {
	if _, err := fmt.Fprintf(e.w, format, args...); err != nil {
		return err
	}
	return e.control.Flush()
}
