package serve_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/byhand/internal/serve"
)

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

// A server that runs answers as its checks do at that moment.
func TestReadinessFlips(t *testing.T) {
	var ready atomic.Bool
	server, err := serve.Listen("127.0.0.1:0", serve.Options{Ready: []serve.Check{{Name: "caches", Err: func() error {
		if !ready.Load() {
			return errors.New("foos.samplecontroller.k8s.io has not synced")
		}
		return nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	for _, now := range []bool{false, true, false} {
		ready.Store(now)
		code, body := ask(t, http.DefaultClient, "GET", server.URL+"/readyz")
		switch {
		case now && (code != 200 || body != "ok"):
			t.Errorf("when it is ready: %d %q, want 200 ok", code, body)
		case !now && (code != 503 || !strings.Contains(body, "foos.samplecontroller.k8s.io has not synced")):
			t.Errorf("when it is not ready: %d %q, want 503 and the reason", code, body)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// On loopback a name that anybody can have is refused. On an address that other
// machines reach any is answered: a kubelet and Prometheus ask from outside.
func TestListenHost(t *testing.T) {
	for _, test := range []struct {
		address, host string
		code          int
	}{
		{"127.0.0.1:0", "localhost:9999", http.StatusOK},
		{"127.0.0.1:0", "rebound.example", http.StatusMisdirectedRequest},
		{":0", "10.1.2.3:8080", http.StatusOK},
		{":0", "byhand.byhand-system.svc:8080", http.StatusOK},
	} {
		server, err := serve.Listen(test.address, serve.Options{Pprof: true})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Run(t.Context()) }()
		for _, path := range []string{"/healthz", "/debug/pprof/"} {
			request, err := http.NewRequest("GET", server.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != test.code {
				t.Errorf("at %s, Host %s, %s: %s, want %d", test.address, test.host, path, response.Status, test.code)
			}
		}
	}
}
