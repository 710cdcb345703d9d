package page

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/byhand/internal/observer"
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

// stream sends the steps of an Observer to every browser that asks.
type stream struct {
	source  *observer.Observer
	options Options
	// process is the id of this process among all that have had its address.
	process string
	// patience is how long a browser may take to read an event.
	patience time.Duration
	// taken holds a token for each browser that reads.
	taken chan struct{}
}

func newStream(source *observer.Observer, o Options) *stream {
	s := &stream{source: source, options: o, patience: readsWithin, taken: make(chan struct{}, mostStreams)}
	s.process = strconv.FormatInt(time.Now().UnixNano(), 36)
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
	Steps []*observer.Step `json:"steps"`
	// Kept says that the steps are from before the browser connected.
	Kept bool `json:"kept,omitempty"`
}

// ServeHTTP sends the steps until the browser goes, does not read, or the server
// ends.
func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.taken <- struct{}{}:
		defer func() { <-s.taken }()
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
	// A page that begins a stream of its own says in its query what it has seen.
	_ = s.send(r.Context(), out, cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")))
}

func (s *stream) send(ctx context.Context, out *events, id string) error {
	process, text, _ := strings.Cut(id, "-")
	last, err := strconv.ParseInt(text, 10, 64)
	resumed := err == nil && process == s.process
	if !resumed {
		last = 0
	}
	steps := s.source.Kept(last)
	greeting := hello{Process: s.process, Resumed: resumed, Kept: len(steps), Recording: s.options.Recording, Notice: s.options.Notice}
	if err := out.hello(greeting); err != nil {
		return err
	}
	for kept := true; ; kept = false {
		for batch := range slices.Chunk(steps, mostSteps) {
			if err := out.news(batch, kept); err != nil {
				return err
			}
			last = batch[len(batch)-1].Seq
		}
		quiet, cancel := context.WithTimeout(ctx, heartbeat)
		steps = s.source.Read(quiet, last)
		over := len(steps) == 0 && quiet.Err() == nil
		cancel()
		switch {
		case over || ctx.Err() != nil:
			return ctx.Err()
		case len(steps) == 0:
			if err := out.write(": nothing new\n\n"); err != nil {
				return err
			}
		default:
			// Others follow within a moment, and travel with it.
			time.Sleep(together)
			steps = s.source.Kept(last)
		}
	}
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
func (e *events) news(steps []*observer.Step, kept bool) error {
	data, err := json.Marshal(news{Steps: steps, Kept: kept})
	if err != nil {
		return err
	}
	if len(data) > mostBytes && len(steps) > 1 {
		half := len(steps) / 2
		if err := e.news(steps[:half], kept); err != nil {
			return err
		}
		return e.news(steps[half:], kept)
	}
	id := ""
	if n := len(steps); n > 0 {
		id = fmt.Sprintf("id: %s-%d\n", e.process, steps[n-1].Seq)
	}
	return e.write("%sevent: news\ndata: %s\n\n", id, data)
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
