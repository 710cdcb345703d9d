package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// streams remembers, for each kind, the step of the last whole list and those of
// the events that have yet to reach the store. It is used while telling.
type streams struct {
	lists  map[string]int64
	events map[string]received
}

// received is the step of an event, and the version that it brought.
type received struct {
	version string
	seq     int64
}

// mostEvents bounds the events that are remembered. A store that is so far behind
// has its causes named without them.
const mostEvents = 10_000

func (s *streams) list(kind string, seq int64) {
	if s.lists == nil {
		s.lists = map[string]int64{}
	}
	s.lists[kind] = seq
}

// received returns the step of the event that brought this version, or 0, and
// forgets it.
func (s *streams) received(kind, key, version string) int64 {
	name := kind + " " + key
	event := s.events[name]
	if event.version != version {
		return 0
	}
	delete(s.events, name)
	return event.seq
}

func (s *streams) receive(kind, key, version string, seq int64) {
	if s.events == nil || len(s.events) >= mostEvents {
		s.events = map[string]received{}
	}
	s.events[kind+" "+key] = received{version, seq}
}

// list sends a request for a list or a watch.
func (t *transport) list(request *http.Request, to target) (*http.Response, error) {
	query := request.URL.Query()
	s := &stream{recorder: t.recorder, to: to, watch: query.Get("watch") != "" && query.Get("watch") != "false", began: time.Now()}
	s.first = query.Get("sendInitialEvents") == "true"
	sent := wire(request, to)
	s.step = Step{Part: PartStream, Kind: to.kind, Request: &sent}.at("stream " + to.kind)

	response, err := t.next.RoundTrip(request)
	if err != nil {
		s.record(Refused, cut("no answer: "+err.Error(), wordsLimit), nil)
		return response, err
	}
	s.step.Request.Status = response.StatusCode
	switch {
	case response.StatusCode != http.StatusOK:
		s.record(Refused, strings.TrimSpace(fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))), nil)
	case s.watch:
		s.opened = s.record(Opened, asked(query), nil)
		s.ReadCloser, response.Body = response.Body, s
		s.frames.binary = strings.Contains(response.Header.Get("Content-Type"), "protobuf")
	default:
		response.Body = &reply{ReadCloser: response.Body, done: func(_ []byte, read int64) {
			s.step.Request.Bytes = read
			s.record(Listed, "list"+page(query), func(step *Step) { t.recorder.streams.list(to.kind, step.Seq) })
		}}
	}
	return response, nil
}

// asked says what a watch asks for.
func asked(query url.Values) string {
	switch {
	case query.Get("sendInitialEvents") == "true":
		return "list as a stream, then watch"
	case query.Get("resourceVersion") != "":
		return "watch from version " + query.Get("resourceVersion")
	default:
		return "watch"
	}
}

// page says which part of a list was asked for.
func page(query url.Values) string {
	if query.Get("continue") != "" {
		return ", the next page"
	}
	return ""
}

// stream is the body of a watch. It reads along.
type stream struct {
	io.ReadCloser
	recorder *Recorder
	to       target
	watch    bool
	step     Step
	began    time.Time
	opened   int64
	frames   frames
	read     int64
	once     sync.Once

	first bool // the list comes first and is not complete yet; used while telling
}

func (s *stream) record(what, text string, finish func(*Step)) int64 {
	step, request := s.step, *s.step.Request
	request.Bytes = max(request.Bytes, s.read)
	step.What, step.Text, step.Request, step.CauseSeq, step.Took = what, text, &request, s.opened, time.Since(s.began)
	return s.recorder.later(step, 0, finish)
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.read += int64(n)
	s.frames.write(p[:n], s.receive)
	if err != nil {
		s.once.Do(func() { s.record(Ended, whyEnded(err), nil) })
	}
	return n, err
}

func (s *stream) Close() error {
	s.once.Do(func() { s.record(Ended, "this process ends it", nil) })
	return s.ReadCloser.Close()
}

// receive records one event, whose bytes are the stream's.
func (s *stream) receive(frame []byte) {
	if len(bytes.TrimSpace(frame)) == 0 {
		return
	}
	frame = bytes.Clone(frame)
	s.recorder.later(Step{Part: PartStream, What: Received, Kind: s.to.kind, CauseSeq: s.opened,
		Request: &Request{Method: http.MethodGet, Path: s.step.Request.Path, Bytes: int64(len(frame))}}, len(frame),
		func(step *Step) { s.finish(step, frame) })
}

// finish reads the event.
func (s *stream) finish(step *Step, frame []byte) {
	*step = step.at("stream " + s.to.kind)
	event, err := parse(frame, s.frames.binary)
	if err != nil {
		step.Text = "an event that cannot be read"
		return
	}
	object := event.Object
	step.Text, step.Version = event.Type, object.Metadata.ResourceVersion
	if event.Type == string(watch.Error) {
		step.Text = cut(event.Type+" "+object.Message, wordsLimit)
	}
	if name := object.Metadata.Name; name != "" {
		step.Key = object.Metadata.Namespace + "/" + name
		step.Foo = event.foo()
		if s.to.kind == "Foo" {
			step.Foo = step.Key
		}
	}
	switch {
	case object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		step.Text += ": the list is complete"
		s.first = false
		s.recorder.streams.list(s.to.kind, step.Seq)
	case !s.first && step.Key != "":
		s.recorder.streams.receive(s.to.kind, step.Key, step.Version, step.Seq)
	}
}

// whyEnded says why a stream is over.
func whyEnded(err error) string {
	if errors.Is(err, io.EOF) {
		return "the API server ended it"
	}
	return cut(fmt.Sprintf("broken off: %v", err), wordsLimit)
}
