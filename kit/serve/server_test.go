package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/byhand/kit/serve"
)

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func listen(t *testing.T, handler http.Handler) *serve.Server {
	t.Helper()
	server, err := serve.Listen("127.0.0.1:0", false, func(*net.TCPAddr) http.Handler { return handler })
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// run runs a server. stop ends it and returns the result of Run.
func run(t *testing.T, server *serve.Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// The error for an address that cannot be used is one line that says what to do.
func TestListenExplains(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for address, want := range map[string]string{
		taken.Addr().String():   "address already in use: another process listens there; give another port, or 0 for any free one",
		"127.0.0.1":             "missing port in address: give HOST:PORT, such as 127.0.0.1:8080",
		"http://127.0.0.1:8080": "too many colons in address: give HOST:PORT",
		"192.0.2.1:0":           "assign requested address: this machine has no such address",
	} {
		_, err := serve.Listen(address, true, func(*net.TCPAddr) http.Handler { return says("ok") })
		if err == nil || !strings.HasPrefix(err.Error(), `cannot listen on "`+address+`": `) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
	}
}

// Only with remote set does Listen take an address that other machines can reach.
func TestListenRemote(t *testing.T) {
	var bound *net.TCPAddr
	handler := func(taken *net.TCPAddr) http.Handler {
		bound = taken
		return says("ok")
	}
	for _, address := range []string{":0", "0.0.0.0:0", "192.0.2.1:0"} {
		if _, err := serve.Listen(address, false, handler); !errors.Is(err, serve.ErrRemote) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: error %v, want ErrRemote with the address", address, err)
		}
	}
	server, err := serve.Listen(":0", true, handler)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("http://localhost:%d", bound.Port); server.URL != want {
		t.Errorf("the URL is %s, want %s", server.URL, want)
	}
	if err := run(t, server)(); err != nil {
		t.Error(err)
	}
}

// A client that connects between Listen and Run gets a response. When the context ends, Run
// closes its connection, although it is open for more requests, and returns. A server runs once.
func TestRun(t *testing.T) {
	server := listen(t, says("ok"))
	address := strings.TrimPrefix(server.URL, "http://")
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	stop := run(t, server)
	response := make([]byte, len("HTTP/1.1 200 OK"))
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client, response); err != nil || string(response) != "HTTP/1.1 200 OK" {
		t.Errorf("response %q, error %v, want 200", response, err)
	}

	if err := stop(); err != nil {
		t.Errorf("Run returns %v, want nil", err)
	}
	if _, err := io.ReadAll(client); err != nil {
		t.Errorf("the connection is not closed: %v", err)
	}
	if connection, err := net.Dial("tcp", address); err == nil {
		_ = connection.Close()
		t.Error("the port is still taken")
	}
	if err := server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("the second Run returns %v, want an error with %s", err, server.URL)
	}
}

// Run waits for a response that has begun, but not forever.
func TestRunAwaitsResponses(t *testing.T) {
	for want, ends := range map[string]bool{"all of it": true, "": false} {
		t.Run(fmt.Sprintf("it ends: %t", ends), func(t *testing.T) {
			begun, never := make(chan struct{}), make(chan struct{})
			defer close(never)
			server := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-r.Context().Done()
				time.Sleep(100 * time.Millisecond) // The server has begun to stop.
				if !ends {
					<-never
				}
				_, _ = io.WriteString(w, "all of it")
			}))
			stop, got := run(t, server), make(chan string, 1)
			go func() {
				var body []byte
				if response, err := http.Get(server.URL); err == nil {
					body, _ = io.ReadAll(response.Body)
				}
				got <- string(body)
			}()
			<-begun
			if err := stop(); err != nil {
				t.Errorf("Run returns %v, want nil", err)
			}
			if body := <-got; body != want {
				t.Errorf("the client gets %q, want %q", body, want)
			}
		})
	}
}
