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

	"k8s.io/client-go/util/flowcontrol"

	"example.com/byhand/chapters/internal/webhook"
)

// TestRotation rotates the CA while reviews come straight to the webhook, up to 1,000 a
// second, and others through the API server. Nothing is refused that should not be, and
// nothing passes that should not.
func TestRotation(t *testing.T) {
	const rotations, learn, rate, straight, through = 2, 1500 * time.Millisecond, 1000, 8, 2
	c := newCluster(t)
	reviewer := &reviewer{
		has:  func(_ context.Context, name string) (bool, error) { return name != "anchovy", nil },
		said: func(string, ...any) {},
	}
	authority, url, _ := c.serve(reviewer.handler(), "127.0.0.1", webhook.Options{Learn: learn})

	// What is installed is whom the clients trust that ask straight.
	registration := c.registration()
	registration.url = url
	var trusted atomic.Pointer[[]byte]
	install := func(ctx context.Context, bundle []byte) error {
		trusted.Store(&bundle)
		return registration.install(ctx, bundle)
	}
	if err := install(t.Context(), authority.Bundle()); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the API server asks", c.refusesAnchovy)

	var running sync.WaitGroup
	var handshakes, reviews, orders atomic.Int64
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
	limit := flowcontrol.NewTokenBucketRateLimiter(rate, rate/10)
	for range straight {
		repeat(&handshakes, func() error {
			return askStraight(url+validatePath, *trusted.Load(), func() {
				reviews.Add(1)
				limit.Accept()
			})
		})
	}
	for range through {
		repeat(&orders, func() error {
			if err := c.givesToppings(); err != nil {
				return err
			}
			return c.refusesAnchovy()
		})
	}
	first, begun := authority.Bundle(), time.Now()
	for range rotations {
		if err := authority.Rotate(t.Context(), install); err != nil {
			t.Error(err)
		}
	}
	took := time.Since(begun).Seconds()
	close(end)
	running.Wait()
	t.Logf("%d rotations in %.1f s; straight %.0f reviews a second and %.0f handshakes, through the API server %.0f pairs of requests",
		rotations, took, float64(reviews.Load())/took, float64(handshakes.Load())/took, float64(orders.Load())/took)
	if reviews.Load() < 100 || orders.Load() < 10 {
		t.Error("that is too few to show anything")
	}
	if err := askStraight(url+validatePath, first, func() {}); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("whoever trusts the first CA alone: %v, want unknown authority", err)
	}
	if last := *trusted.Load(); bytes.Equal(first, last) || bytes.Count(last, []byte("BEGIN")) != 1 {
		t.Errorf("at the end the bundle is\n%s", last)
	}
}

// askStraight opens a connection to the webhook as an API server does that trusts bundle,
// and sends ten reviews. It calls answered after each.
func askStraight(url string, bundle []byte, answered func()) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	for range 10 {
		response, err := client.Post(url, "application/json", strings.NewReader(reviewOf("CREATE", pizza("tomato"), "")))
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"allowed":true`)) {
			return fmt.Errorf("%s %s (%v)", response.Status, answer, err)
		}
		answered()
	}
	return nil
}
