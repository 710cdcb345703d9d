package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"

	"example.com/byhand/internal/trace"
)

// Exchange says how to read a request and what comes back.
type Exchange struct {
	// Many is true for a list and for a watch, Watch for a watch only.
	Many, Watch bool
	// Opaque hides the bodies: they are not read.
	Opaque bool
	// Tell is called with each message. The end of a watch may come while another goroutine tells
	// an event.
	Tell func(Message)
}

// Message is something that passed.
type Message struct {
	// What is a word of package trace: sent, then answered or failed (without an answer). A list is
	// listed or refused. A watch is refused, or opened, and then received comes with each event, and ended.
	What string
	Code int // of the answer, 0 for none
	// Body is what was sent, the answer or an event, nil for one that was not read.
	Body []byte
	// Err says why there is no answer, or not all of it, and why a watch ended: io.EOF if the API
	// server ended it, nil if the program closed it.
	Err error
}

// Transport is an http.RoundTripper that reads along.
type Transport struct {
	Next http.RoundTripper
	// Read returns how to read a request, nil for one that is not read.
	Read func(*http.Request) *Exchange
}

// WrappedRoundTripper lets client-go find what is inside.
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

// answered tells an answer, or that there is none.
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

// mostRead is how much of a body is read along.
const mostRead = 32 << 20

// read returns what is in a body, and leaves it to be read. Of a longer one it returns no bytes.
func (x *Exchange) read(body *io.ReadCloser) Message {
	if x.Opaque || *body == nil || *body == http.NoBody {
		return Message{}
	}
	text, err := io.ReadAll(io.LimitReader(*body, mostRead+1))
	m := Message{Body: text, Err: err}
	*body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), *body), *body} // Whoever reads the rest gets the error, too.
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
