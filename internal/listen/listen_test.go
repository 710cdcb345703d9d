package listen_test

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

	"example.com/byhand/internal/listen"
)

// deadline is how long a test waits for what must happen.
const deadline = 10 * time.Second

// ask sends one request and returns the code and the body of the answer.
func ask(t *testing.T, client *http.Client, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// says answers everything with a text.
func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

// here listens on a free port of this machine alone.
func here(handler http.Handler) (*listen.Server, error) {
	return listen.Listen("127.0.0.1:0", false, func(*net.TCPAddr) http.Handler { return handler })
}

// start runs a server on a free port and returns a function that ends it and
// fails the test unless Run returns nil.
func start(t *testing.T, handler http.Handler) (server *listen.Server, stop func()) {
	t.Helper()
	server, err := here(handler)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	stop = func() {
		t.Helper()
		cancel()
		select {
		case err := <-done:
			done <- nil // for the next call
			if err != nil {
				t.Errorf("Run returns %v, want nil", err)
			}
		case <-time.After(deadline):
			t.Fatal("Run does not return")
		}
	}
	t.Cleanup(stop)
	return server, stop
}

// newClient returns a client with connections of its own. It does not give up.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Clients that come between Listen and Run are answered.
func TestListenHoldsClients(t *testing.T) {
	server, err := here(says("ok"))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatalf("nobody listens at %s: %v", server.URL, err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	answer, err := io.ReadAll(connection)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 200 OK") {
		t.Errorf("answer %q, error %v; want 200", answer, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
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
		{"only a port", "8080", "missing port in address: give HOST:PORT"},
		{"a port that is none", "127.0.0.1:99999", "invalid port: give HOST:PORT"},
		{"a port with letters", "127.0.0.1:eighty", "give HOST:PORT"},
		{"a bare IPv6 address", "::1:8080", "too many colons in address: give HOST:PORT"},
		{"a URL", "http://127.0.0.1:8080", "too many colons in address: give HOST:PORT"},
		{"an address of another machine", "192.0.2.1:0", "assign requested address: this machine has no such address"},
	} {
		server, err := listen.Listen(test.address, true, func(*net.TCPAddr) http.Handler { return says("ok") })
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
		server, err := listen.Listen(address, false, func(*net.TCPAddr) http.Handler { return says("ok") })
		if !errors.Is(err, listen.ErrRemote) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: server %v, error %v, want ErrRemote with the address", address, server, err)
		}
	}
	var bound *net.TCPAddr
	server, err := listen.Listen("0.0.0.0:0", true, func(taken *net.TCPAddr) http.Handler {
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

// When ctx ends, Run returns, nobody listens, and no goroutine is left, also where
// clients keep connections or send nothing.
func TestRunEnds(t *testing.T) {
	server, stop := start(t, says("ok"))
	client := newClient(t)
	if code, _ := ask(t, client, "GET", server.URL); code != 200 {
		t.Fatalf("code %d, want 200", code)
	}
	address := strings.TrimPrefix(server.URL, "http://")
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()

	stop()
	if connection, err := net.Dial("tcp", address); err == nil {
		_ = connection.Close()
		t.Error("somebody still listens")
	}
	client.CloseIdleConnections()
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		left := stacks()
		return !strings.Contains(left, "net/http.(*conn).serve") && !strings.Contains(left, "internal/listen.(*Server)"), nil
	})
	if err != nil {
		t.Errorf("goroutines are left:\n%s", stacks())
	}
}

func stacks() string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
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
			server, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-r.Context().Done()
				if !test.ends {
					<-never
				}
				_, _ = io.WriteString(w, "all of it")
			}))
			client, answer := newClient(t), make(chan string, 1)
			go func() {
				response, err := client.Get(server.URL)
				if err != nil {
					answer <- ""
					return
				}
				defer func() { _ = response.Body.Close() }()
				body, _ := io.ReadAll(response.Body)
				answer <- string(body)
			}()
			select {
			case <-begun:
			case <-time.After(deadline):
				t.Fatal("no request arrives")
			}
			stop()
			select {
			case got := <-answer:
				if test.ends != (got == "all of it") {
					t.Errorf("the client got %q", got)
				}
			case <-time.After(deadline):
				t.Error("the connection stays open")
			}
		})
	}
}

// A server runs once.
func TestRunTwice(t *testing.T) {
	server, stop := start(t, says("ok"))
	if code, _ := ask(t, newClient(t), "GET", server.URL); code != 200 {
		t.Fatalf("code %d, want 200", code)
	}
	stop()
	if err := server.Run(context.Background()); err == nil || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("the second Run returns %v, want an error that names %s", err, server.URL)
	}
}
