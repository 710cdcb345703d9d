package page

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/byhand/internal/trace"
)

// flood is a Source that never ends.
type flood struct{ stopped chan struct{} }

func (f flood) Subscribe() ([]trace.Step, Subscription) { return nil, f }

func (f flood) Next(ctx context.Context) (trace.Step, int64, bool) {
	return trace.Step{Seq: 1, Part: trace.PartProgram, What: "said", Text: strings.Repeat("x", 1000)}, 3, ctx.Err() == nil
}

func (f flood) Stop() { close(f.stopped) }

// TestBrowserThatDoesNotRead is dropped after its time, and its subscription with
// it.
func TestBrowserThatDoesNotRead(t *testing.T) {
	source := flood{make(chan struct{})}
	s := newStream(source, Options{})
	s.patience = 50 * time.Millisecond
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)

	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if _, err := connection.Write([]byte("GET /steps HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-source.stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("it is still served")
	}
	select {
	case <-s.free:
	case <-time.After(10 * time.Second):
		t.Fatal("its place is not free again")
	}
}

// scripted hands out what a test says, step by step.
type scripted struct {
	results chan result
}

type result struct {
	step trace.Step
	lost int64
	ok   bool
}

func (s scripted) Subscribe() ([]trace.Step, Subscription) { return nil, s }

func (s scripted) Next(ctx context.Context) (trace.Step, int64, bool) {
	select {
	case r, open := <-s.results:
		return r.step, r.lost, open && r.ok
	case <-ctx.Done():
		return trace.Step{}, 0, false
	}
}

func (scripted) Stop() {}

// TestLostIsToldAndTheEndIsTheEnd counts what a subscription lost, and ends the
// stream when no step will come.
func TestLostIsToldAndTheEndIsTheEnd(t *testing.T) {
	s := scripted{make(chan result, 3)}
	s.results <- result{trace.Step{Seq: 5, What: "said"}, 4, true}
	s.results <- result{trace.Step{Seq: 8, What: "said"}, 2, true}
	s.results <- result{trace.Step{}, 7, false}
	close(s.results)
	recorder := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		request := httptest.NewRequest(http.MethodGet, "/steps", nil)
		newStream(s, Options{}).ServeHTTP(deadlines{recorder}, request)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the stream does not end")
	}
	if body := recorder.Body.String(); !strings.Contains(body, `"lost":13`) {
		t.Errorf("13 steps were lost; the browser hears\n%s", body)
	}
}

// deadlines makes a recorder one that can be given deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }
func (deadlines) SetReadDeadline(time.Time) error  { return nil }
