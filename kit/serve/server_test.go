package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/byhand/kit/serve"
)

// deadline is how long a test waits for what must happen.
const deadline = 10 * time.Second

// says answers everything with a text.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// start runs a server on a free port and returns a function that ends it and fails the
// test unless Run returns nil. A client has come before Run.
func start(t *testing.T, handler http.Handler) (server *serve.Server, early net.Conn, stop func()) {
	t.Helper()
	server, err := serve.Listen("127.0.0.1:0", false, func(*net.TCPAddr) http.Handler { return handler })
	if err != nil {
		t.Fatal(err)
	}
	early, err = net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatalf("nobody listens at %s: %v", server.URL, err)
	}
	t.Cleanup(func() { _ = early.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return server, early, func() {
		t.Helper()
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run returns %v, want nil", err)
			}
		case <-time.After(deadline):
			t.Fatal("Run does not return")
		}
	}
}

// An address that cannot be had gives one line that says what to do.
func TestListenExplains(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, test := range []struct{ reason, address, want string }{
		{"a taken port", taken.Addr().String(), "address already in use: another process listens there; give another port, or 0 for any free one"},
		{"no port", "127.0.0.1", "missing port in address: give HOST:PORT, such as 127.0.0.1:8080"},
		{"a port that is none", "127.0.0.1:99999", "invalid port: give HOST:PORT"},
		{"a bare IPv6 address", "::1:8080", "too many colons in address: give HOST:PORT"},
		{"a URL", "http://127.0.0.1:8080", "too many colons in address: give HOST:PORT"},
		{"an address of another machine", "192.0.2.1:0", "assign requested address: this machine has no such address"},
	} {
		server, err := serve.Listen(test.address, true, func(*net.TCPAddr) http.Handler { return says("ok") })
		if err == nil {
			t.Errorf("%s: listens at %s", test.reason, server.URL)
			continue
		}
		got := err.Error()
		if !strings.HasPrefix(got, `cannot listen on "`+test.address+`": `) || !strings.Contains(got, test.want) ||
			strings.Contains(got, "listen tcp") || strings.Contains(got, "\n") {
			t.Errorf("%s: error %q, want one line with %q", test.reason, got, test.want)
		}
	}
}

// An address that other machines can reach must be asked for.
func TestListenRemote(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		server, err := serve.Listen(address, false, func(*net.TCPAddr) http.Handler { return says("ok") })
		if !errors.Is(err, serve.ErrRemote) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: server %v, error %v, want ErrRemote with the address", address, server, err)
		}
	}
	for _, address := range []string{":0", "0.0.0.0:0"} {
		var bound *net.TCPAddr
		server, err := serve.Listen(address, true, func(taken *net.TCPAddr) http.Handler {
			bound = taken
			return says("ok")
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("http://localhost:%d", bound.Port); server.URL != want {
			t.Errorf("the URL is %s, want %s", server.URL, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := server.Run(ctx); err != nil {
			t.Error(err)
		}
	}
}

// A client that comes between Listen and Run is answered. When the context ends, Run
// returns, the port is free, and no goroutine is left, also where a client sends nothing
// more. A server runs once.
func TestRun(t *testing.T) {
	server, early, stop := start(t, says("ok"))
	answer := make([]byte, len("HTTP/1.1 200 OK"))
	if _, err := io.WriteString(early, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(early, answer); err != nil || string(answer) != "HTTP/1.1 200 OK" {
		t.Errorf("answer %q, error %v; want 200", answer, err)
	}
	silent, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()

	stop()
	if connection, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://")); err == nil {
		_ = connection.Close()
		t.Error("somebody still listens")
	}
	stacks := make([]byte, 1<<20)
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		left := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(left, "net/http.(*conn).serve") && !strings.Contains(left, "kit/serve.(*Server)"), nil
	})
	if err != nil {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
	if err := server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("the second Run returns %v, want an error that names %s", err, server.URL)
	}
}

// Each request is the handler's. net/http would answer this one itself, whoever asks.
func TestOptions(t *testing.T) {
	asked := make(chan string, 1)
	_, early, stop := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method + " " + r.RequestURI }))
	defer stop()
	_, _ = io.WriteString(early, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
	select {
	case got := <-asked:
		if got != "OPTIONS *" {
			t.Errorf("asked for %s", got)
		}
	case <-time.After(deadline):
		t.Error("the handler is not asked")
	}
}

// An answer that has begun is finished; one that does not end does not hold Run.
func TestRunAwaitsAnswers(t *testing.T) {
	for _, test := range []struct {
		reason string
		ends   bool
	}{{"an answer that ends with the server", true}, {"an answer that never ends", false}} {
		t.Run(test.reason, func(t *testing.T) {
			begun, never := make(chan struct{}), make(chan struct{})
			defer close(never)
			_, client, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-r.Context().Done()
				if !test.ends {
					<-never
				}
				_, _ = io.WriteString(w, "all of it")
			}))
			if _, err := io.WriteString(client, "GET / HTTP/1.0\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-begun:
			case <-time.After(deadline):
				t.Fatal("no request arrives")
			}
			stop()
			if err := client.SetReadDeadline(time.Now().Add(deadline)); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(client)
			if errors.Is(err, context.DeadlineExceeded) || test.ends != strings.HasSuffix(string(answer), "all of it") {
				t.Errorf("the client got %q (%v)", answer, err)
			}
		})
	}
}
