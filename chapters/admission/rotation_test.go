//go:build integration

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/webhook"
)

// TestRotation rotates the CA while reviews come straight to the webhook, each with a
// handshake of its own, and others through the API server. Nothing is refused that should
// not be, and nothing passes that should not.
func TestRotation(t *testing.T) {
	const rotations, learn, straight, through = 3, time.Second, 4, 2
	c := newCluster(t)
	reviewer := &reviewer{
		has:  func(_ context.Context, name string) (bool, error) { return name != "anchovy", nil },
		said: func(string, ...any) {},
	}
	authority, err := webhook.NewAuthority([]string{"127.0.0.1"}, webhook.Options{Learn: learn})
	if err != nil {
		t.Fatal(err)
	}
	server, err := webhook.Listen("127.0.0.1:0", false, authority, reviewer.handler())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()

	// What is installed is whom the clients trust that ask straight.
	registration := c.registration()
	registration.url = server.URL
	var trusted atomic.Pointer[[]byte]
	install := func(ctx context.Context, bundle []byte) error {
		trusted.Store(&bundle)
		return registration.install(ctx, bundle)
	}
	if err := install(ctx, authority.Bundle()); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the API server asks", c.refusesAnchovy)

	var running sync.WaitGroup
	var counts [2]atomic.Int64
	end := make(chan struct{})
	// repeat asks until the end, or until it fails.
	repeat := func(count *atomic.Int64, ask func() error) {
		running.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if err := ask(); err != nil {
					t.Error(err)
					return
				}
				count.Add(1)
			}
		})
	}
	for range straight {
		repeat(&counts[0], func() error { return askStraight(server.URL+validatePath, *trusted.Load()) })
	}
	for range through {
		repeat(&counts[1], func() error {
			if err := c.givesToppings(); err != nil {
				return err
			}
			return c.refusesAnchovy()
		})
	}
	first := authority.Bundle()
	for range rotations {
		if err := authority.Rotate(ctx, install); err != nil {
			t.Error(err)
		}
	}
	close(end)
	running.Wait()
	t.Logf("%d rotations, %d reviews straight, %d pairs of requests through the API server", rotations, counts[0].Load(), counts[1].Load())
	if counts[0].Load() < 100 || counts[1].Load() < 10 {
		t.Error("that is too few to show anything")
	}
	if err := askStraight(server.URL+validatePath, first); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("whoever trusts the first CA alone: %v, want unknown authority", err)
	}
	if last := *trusted.Load(); bytes.Equal(first, last) || bytes.Count(last, []byte("BEGIN")) != 1 {
		t.Errorf("at the end the bundle is\n%s", last)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// askStraight sends a review to the webhook as an API server does that trusts bundle.
func askStraight(url string, bundle []byte) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Post(url, "application/json", strings.NewReader(reviewOf("CREATE", pizza("tomato"), "")))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"allowed":true`)) {
		return fmt.Errorf("%s %s (%v)", response.Status, answer, err)
	}
	return nil
}
