package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"

	"example.com/byhand/internal/observe/trace"
)

// Exchange says how to read a request and its answer.
type Exchange struct {
	// Many is true for a list and for a watch, Watch for a watch only.
	Many, Watch bool
	// Opaque is true if only the program may read the bodies.
	Opaque bool
	// Tell is called with each message. The end of a watch may come from another goroutine than its
	// events.
	Tell func(Message)
}

// Message is a request, an answer, an event of a watch, or an end.
type Message struct {
	// What is one of trace's words. A single request is sent, then answered or failed (no answer). A
	// list is listed or refused. A watch is refused, or opened, received (each event) and ended.
	What string
	Code int // of the response, 0 without one
	// Body has the bytes of the request, the answer or the event; nil if they were not read.
	Body []byte
	// Err says why an answer is missing or incomplete, and why a watch ended: io.EOF if the API
	// server ended it, nil if the program closed it.
	Err error
}

// Transport is an http.RoundTripper that tells the messages.
type Transport struct {
	Next http.RoundTripper
	// Read returns how to read a request, nil to leave it unread. It may change headers.
	Read func(*http.Request) *Exchange
}

// WrappedRoundTripper lets client-go find the inner transport.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.Next }

// RoundTrip passes a request on.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x := t.Read(r)
	if x == nil {
		return t.Next.RoundTrip(r)
	}
	r = r.WithContext(r.Context()) // A copy: the caller's request stays as it is.
	if sent := x.read(&r.Body); !x.Many {
		sent.What = trace.Sent
		x.Tell(sent)
	}
	response, err := t.Next.RoundTrip(r)
	switch {
	case err != nil:
		x.answered(Message{Err: err})
	case x.Watch && response.StatusCode == http.StatusOK:
		x.Tell(Message{What: trace.Opened, Code: http.StatusOK})
		response.Body = &stream{ReadCloser: response.Body, exchange: x, split: splitOf(response.Header.Get("Content-Type"))}
	default:
		answer := x.read(&response.Body)
		answer.Code = response.StatusCode
		x.answered(answer)
	}
	return response, err
}

// answered tells an answer, or that it is missing.
func (x *Exchange) answered(m Message) {
	switch {
	case x.Many && m.Code == http.StatusOK && m.Err == nil:
		m.What = trace.Listed
	case x.Many:
		m.What = trace.Refused
	case m.Code == 0:
		m.What = trace.Failed
	default:
		m.What = trace.Answered
	}
	x.Tell(m)
}

// mostRead is the size of the largest body that is told.
const mostRead = 32 << 20

// read returns the bytes of a body, and replaces the body by one that still has them. It returns no
// bytes of a longer body.
func (x *Exchange) read(body *io.ReadCloser) Message {
	if x.Opaque || *body == nil || *body == http.NoBody {
		return Message{}
	}
	text, err := io.ReadAll(io.LimitReader(*body, mostRead+1))
	m := Message{Body: text, Err: err}
	*body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), *body), *body} // Reading the rest returns the same error.
	if len(text) > mostRead {
		m.Body = nil
	}
	return m
}

// stream is the body of a watch. Each event is told when it is whole.
type stream struct {
	io.ReadCloser
	exchange *Exchange
	split    bufio.SplitFunc
	kept     []byte // of an event that is not whole yet
	ended    sync.Once
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.kept = append(s.kept, p[:n]...)
	for {
		size, event, _ := s.split(s.kept, false)
		if size == 0 {
			break
		}
		s.exchange.Tell(Message{What: trace.Received, Code: http.StatusOK, Body: event})
		s.kept = s.kept[size:]
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

func (s *stream) end(err error) {
	s.ended.Do(func() { s.exchange.Tell(Message{What: trace.Ended, Code: http.StatusOK, Err: err}) })
}
