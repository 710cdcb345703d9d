package page

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/byhand/internal/observe/trace"
)

// A browser that does not read is disconnected.
func TestBrowserThatDoesNotRead(t *testing.T) {
	source := trace.Replay()
	for n := range int64(2000) { // more than the buffers in between can hold
		source.Add(&trace.Step{Seq: n + 1, Text: strings.Repeat("x", 10_000)})
	}
	s, dropped := newStream(source, Options{}), make(chan struct{})
	s.patience = 50 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		close(dropped)
	}))
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
	case <-dropped:
	case <-time.After(10 * time.Second):
		t.Error("the server still writes to it")
	}
}

func TestTooManyBrowsers(t *testing.T) {
	s, recorder := newStream(trace.Replay(), Options{}), httptest.NewRecorder()
	for range mostStreams {
		s.taken <- struct{}{}
	}
	if s.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/steps", nil)); recorder.Code != http.StatusServiceUnavailable {
		t.Errorf("code %d, want 503", recorder.Code)
	}
}
