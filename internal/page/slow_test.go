package page

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/byhand/internal/trace"
)

// A browser that does not read is dropped after its time.
func TestBrowserThatDoesNotRead(t *testing.T) {
	// More than fits into the buffers on the way.
	source := trace.Replay()
	for n := range int64(2000) {
		source.Add(&trace.Step{Seq: n + 1, Part: trace.PartProgram, What: "said", Text: strings.Repeat("x", 10_000)})
	}
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
	until := time.Now().Add(10 * time.Second)
	for taken := false; len(s.taken) > 0 || !taken; time.Sleep(time.Millisecond) {
		if taken = taken || len(s.taken) > 0; time.Now().After(until) {
			t.Fatalf("it was served: %t; its place is not free again", taken)
		}
	}
}

// One browser more than may read is told so, until another one goes.
func TestTooManyBrowsers(t *testing.T) {
	s := newStream(trace.Replay(), Options{})
	for range mostStreams {
		s.taken <- struct{}{}
	}
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		recorder := httptest.NewRecorder()
		s.ServeHTTP(deadlines{recorder}, httptest.NewRequest(http.MethodHead, "/steps", nil))
		if recorder.Code != want {
			t.Errorf("code %d, want %d: %s", recorder.Code, want, recorder.Body)
		}
		<-s.taken
	}
}

// What was added before the server ends is sent.
func TestEndOfServer(t *testing.T) {
	source, recorder := trace.Replay(trace.Step{Seq: 5, What: "said"}), httptest.NewRecorder()
	ctx, end := context.WithCancel(t.Context())
	browser := flushed{deadlines{recorder}, sync.OnceFunc(func() {
		source.Add(&trace.Step{Seq: 6, What: "stopped"})
		source.Close()
		end()
	})}
	newStream(source, Options{}).ServeHTTP(browser, httptest.NewRequest(http.MethodGet, "/steps", nil).WithContext(ctx))
	if body := recorder.Body.String(); !strings.Contains(body, `"seq":6`) {
		t.Errorf("the browser hears\n%s", body)
	}
}

// flushed calls then when something was sent.
type flushed struct {
	deadlines
	then func()
}

func (f flushed) Flush() { f.then() }

// deadlines makes a recorder one that can be given deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }
func (deadlines) SetReadDeadline(time.Time) error  { return nil }
