package observer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/trace"
)

// list sends a request for a list or a watch.
func (t *transport) list(request *http.Request, to target) (*http.Response, error) {
	query, sent := request.URL.Query(), wireForm(request, to)
	s := &stream{observer: t.observer, kind: to.kind, at: t.observer.here(), began: time.Now(),
		watch: query.Get("watch") == "true", first: query.Get("sendInitialEvents") == "true",
		step: trace.Step{Part: trace.PartStream, Kind: to.kindName(), Text: "list", Request: &sent}}
	switch version := query.Get("resourceVersion"); {
	case s.first:
		s.step.Text = "list as a stream, then watch"
	case s.watch && version != "":
		s.step.Text = "watch from version " + version
	case s.watch:
		s.step.Text = "watch"
	case query.Get("continue") != "":
		s.step.Text = "list, the next page"
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		s.record(trace.Refused, cut("no answer: "+err.Error(), wordsLimit))
		return response, err
	}
	sent.Status = response.StatusCode
	if response.StatusCode != http.StatusOK {
		s.record(trace.Refused, response.Status)
		return response, nil
	}
	if s.watch {
		s.opened = s.record(trace.Opened, s.step.Text)
	}
	s.ReadCloser, response.Body = response.Body, s
	return response, nil
}

// stream is the body of a list or a watch. It reads along.
type stream struct {
	io.ReadCloser
	observer *Observer
	kind     *wired
	at       *place
	watch    bool
	step     trace.Step
	began    time.Time
	opened   int64
	line     []byte       // the event that is not whole yet
	read     atomic.Int64 // Close may be called while Read waits
	once     sync.Once

	first bool // the list comes first and is not complete yet; used while steps are published
}

func (s *stream) record(what, text string) int64 {
	step, request := s.step, *s.step.Request
	request.Bytes = s.read.Load()
	step.What, step.Text, step.Request, step.CauseSeq, step.Took = what, text, &request, s.opened, time.Since(s.began)
	return s.observer.record(&step, s.at, func(step *trace.Step) {
		if what == trace.Listed {
			s.kind.listed, s.kind.place = step.Seq, place{step.File, step.Func}
		}
	})
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.read.Add(int64(n))
	if s.watch {
		s.receive(p[:n])
	}
	if err != nil {
		s.end(err)
	}
	return n, err
}

func (s *stream) Close() error {
	s.end(nil)
	return s.ReadCloser.Close()
}

// end records the end, because of an error or, without one, at this process's own wish.
// A list that does not end by itself was not whole.
func (s *stream) end(err error) {
	what, text := trace.Refused, "this process ends it"
	switch {
	case s.watch && errors.Is(err, io.EOF):
		text = "the API server ended it"
	case errors.Is(err, io.EOF):
		what, text = trace.Listed, s.step.Text
	case err != nil:
		text = cut(fmt.Sprintf("broken off: %v", err), wordsLimit)
	}
	if s.watch {
		what = trace.Ended
	}
	s.once.Do(func() { s.record(what, text) })
}

// receive records the events that are whole with these bytes. Each is a line.
func (s *stream) receive(p []byte) {
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		s.line = append(s.line, line...)
		if !whole {
			return
		}
		event, step := s.line, s.step
		s.line, p = nil, rest
		step.What, step.CauseSeq = trace.Received, s.opened
		step.Request = &trace.Request{Method: http.MethodGet, Path: s.step.Request.Path, Bytes: int64(len(event))}
		s.observer.record(&step, s.at, func(step *trace.Step) { s.finish(step, event) })
	}
}

// finish reads the event.
func (s *stream) finish(step *trace.Step, line []byte) {
	var event struct {
		Type   string
		Object struct {
			metav1.PartialObjectMetadata
			Message string // of a Status
		}
	}
	if err := json.Unmarshal(line, &event); err != nil {
		step.Text = "an event that cannot be read"
		return
	}
	object := &event.Object
	s.kind.place = place{step.File, step.Func}
	step.Text, step.Version = event.Type, object.ResourceVersion
	if event.Type == string(watch.Error) {
		step.Text = cut(event.Type+" "+object.Message, wordsLimit)
	}
	if object.Name != "" {
		step.Key, step.For = keyOf(object.Namespace, object.Name), s.observer.belongs(s.kind, object)
	}
	switch {
	case object.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		step.Text += ": the list is complete"
		s.first = false
		s.kind.listed = step.Seq
	case !s.first && step.Key != "":
		s.observer.received.add(step.Kind, step.Version, step.Seq)
	}
}
