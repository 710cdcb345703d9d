package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// streams remembers, for each kind, the step of the last whole list and those of
// the events that have yet to reach the store.
type streams struct {
	mu     sync.Mutex
	lists  map[string]int64
	events map[string]event
}

type event struct {
	version string
	seq     int64
}

// mostEvents bounds the events that are remembered. A store that is so far behind
// has its causes named without them.
const mostEvents = 10_000

// listed returns the step of the last list of a kind, or 0.
func (s *streams) listed(kind string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[kind]
}

func (s *streams) list(kind string, seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil {
		s.lists = map[string]int64{}
	}
	s.lists[kind] = seq
}

// received returns the step of the event that brought this version, or 0, and
// forgets it.
func (s *streams) received(kind, key, version string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := kind + " " + key
	if s.events[name].version != version {
		return 0
	}
	defer delete(s.events, name)
	return s.events[name].seq
}

func (s *streams) receive(kind, key, version string, seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events == nil || len(s.events) >= mostEvents {
		s.events = map[string]event{}
	}
	s.events[kind+" "+key] = event{version, seq}
}

// list sends a request for a list or a watch.
func (t *transport) list(request *http.Request, to target) (*http.Response, error) {
	query := request.URL.Query()
	s := &stream{recorder: t.recorder, to: to, watch: query.Get("watch") != "" && query.Get("watch") != "false", began: time.Now()}
	s.first = query.Get("sendInitialEvents") == "true"
	s.step = Step{Part: PartStream, Kind: to.kind, Request: wire(request, to)}.at("stream " + to.kind)

	response, err := t.next.RoundTrip(request)
	if err != nil {
		s.record(Refused, cut("no answer: "+err.Error(), wordsLimit))
		return response, err
	}
	s.step.Request.Status = response.StatusCode
	switch {
	case response.StatusCode != http.StatusOK:
		s.record(Refused, strings.TrimSpace(fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))))
	case s.watch:
		s.opened = s.record(Opened, asked(query))
		s.ReadCloser, response.Body = response.Body, s
		s.frames.binary = strings.Contains(response.Header.Get("Content-Type"), "protobuf")
	default:
		response.Body = &reply{ReadCloser: response.Body, done: func(_ []byte, read int64) {
			s.step.Request.Bytes = read
			t.recorder.streams.list(to.kind, s.record(Listed, "list"+page(query)))
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
	first    bool // the list comes first
	step     Step
	began    time.Time
	opened   int64
	frames   frames
	read     int64
	once     sync.Once
}

func (s *stream) record(what, text string) int64 {
	step, request := s.step, *s.step.Request
	request.Bytes = max(request.Bytes, s.read)
	step.What, step.Text, step.Request, step.CauseSeq, step.Took = what, text, &request, s.opened, time.Since(s.began)
	return s.recorder.record(step)
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.read += int64(n)
	s.frames.write(p[:n], s.receive)
	if err != nil {
		s.once.Do(func() { s.record(Ended, whyEnded(err)) })
	}
	return n, err
}

func (s *stream) Close() error {
	s.once.Do(func() { s.record(Ended, "this process ends it") })
	return s.ReadCloser.Close()
}

// receive records one event.
func (s *stream) receive(frame []byte) {
	received, err := s.frames.parse(frame)
	if err != nil {
		return
	}
	object := received.Object
	step := Step{Part: PartStream, What: Received, Text: received.Type, Kind: s.to.kind, CauseSeq: s.opened,
		Version: object.Metadata.ResourceVersion, Request: &Request{Method: http.MethodGet, Path: s.step.Request.Path, Bytes: int64(len(frame))}}
	if received.Type == string(watch.Error) {
		step.Text = cut(received.Type+" "+object.Message, wordsLimit)
	}
	if name := object.Metadata.Name; name != "" {
		step.Key = object.Metadata.Namespace + "/" + name
		step.Foo = received.foo()
		if s.to.kind == "Foo" {
			step.Foo = step.Key
		}
	}
	listed := object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	if listed {
		step.Text += ": the list is complete"
	}
	seq := s.recorder.record(step.at("stream " + s.to.kind))
	switch {
	case listed:
		s.first = false
		s.recorder.streams.list(s.to.kind, seq)
	case !s.first && step.Key != "":
		s.recorder.streams.receive(s.to.kind, step.Key, step.Version, seq)
	}
}

// frameLimit is the longest event that is read. etcd stores no object that long.
const frameLimit = 8 << 20

// frames takes a stream apart into events.
type frames struct {
	// binary events have their length before them, as four bytes; others end with
	// their line.
	binary  bool
	buffer  bytes.Buffer
	stopped bool
}

func (f *frames) write(p []byte, each func(frame []byte)) {
	if f.stopped {
		return
	}
	f.buffer.Write(p)
	for {
		before, length, complete := f.next()
		if !complete {
			break
		}
		f.buffer.Next(before)
		each(f.buffer.Next(length))
	}
	if f.buffer.Len() > frameLimit {
		f.stopped, f.buffer = true, bytes.Buffer{}
	}
}

// next returns how many bytes stand before the first event and how many it has.
func (f *frames) next() (before, length int, complete bool) {
	waiting := f.buffer.Bytes()
	if !f.binary {
		end := bytes.IndexByte(waiting, '\n')
		return 0, end + 1, end >= 0
	}
	if len(waiting) < 4 {
		return 0, 0, false
	}
	length = int(binary.BigEndian.Uint32(waiting))
	return 4, length, len(waiting)-4 >= length
}

// watched is the part of a watch event that is shown.
type watched struct {
	Type   string
	Object struct {
		Metadata struct {
			Name, Namespace, ResourceVersion string
			Annotations                      map[string]string
			OwnerReferences                  []metav1.OwnerReference
		}
		Message string
	}
}

// foo returns the key of the Foo that controls the object, or "".
func (w *watched) foo() string {
	metadata := &w.Object.Metadata
	return fooOfOwner(metadata.Namespace, metav1.GetControllerOfNoCopy(&metav1.ObjectMeta{OwnerReferences: metadata.OwnerReferences}))
}

func (f *frames) parse(frame []byte) (w watched, err error) {
	if !f.binary {
		err = json.Unmarshal(frame, &w)
		return w, err
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return w, err
	}
	w.Type = event.Type
	// Four bytes say that it is protobuf.
	var object runtime.Unknown
	if len(event.Object.Raw) < 4 {
		return w, fmt.Errorf("%d bytes", len(event.Object.Raw))
	}
	if err := object.Unmarshal(event.Object.Raw[4:]); err != nil {
		return w, err
	}
	if object.Kind == "Status" {
		var status metav1.Status
		err = status.Unmarshal(object.Raw)
		w.Object.Message = status.Message
		return w, err
	}
	// The metadata has the same number in every kind.
	var partial metav1.PartialObjectMetadata
	err = partial.Unmarshal(object.Raw)
	metadata := &w.Object.Metadata
	metadata.Name, metadata.Namespace, metadata.ResourceVersion = partial.Name, partial.Namespace, partial.ResourceVersion
	metadata.Annotations, metadata.OwnerReferences = partial.Annotations, partial.OwnerReferences
	return w, err
}
