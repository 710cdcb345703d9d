package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/kit/serve"
)

var limits = webhook.Limits{Bytes: 100, Time: 200 * time.Millisecond, AtOnce: 1}

// echo answers with what it was asked.
func echo(_ context.Context, body []byte) (any, error) { return string(body), nil }

// ask sends a review and returns the answer.
func ask(handler http.Handler, method, contentType string, body io.Reader) (code int, answer string) {
	request, recorder := httptest.NewRequest(method, "/", body), httptest.NewRecorder()
	request.Header.Set("Content-Type", contentType)
	handler.ServeHTTP(recorder, request)
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

// Whatever comes, there is an answer, and the handler goes on.
func TestReview(t *testing.T) {
	decide := func(ctx context.Context, body []byte) (any, error) {
		switch string(body) {
		case "panic":
			panic("no such luck")
		case "invalid":
			return nil, webhook.Invalid("no %s", "review")
		case "error":
			return nil, errors.New("no API server")
		case "slow":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return echo(ctx, body)
	}
	handler := webhook.Review(limits, decide)
	const json = "application/json"
	for _, test := range []struct {
		method, contentType, body string
		code                      int
		answer                    string
	}{
		{"POST", json, "review", 200, `"review"`},
		{"POST", json, strings.Repeat("a", 101), 413, "too large"},
		{"GET", json, "", 405, "want POST"},
		{"POST", "text/plain", "review", 415, "text/plain"},
		{"POST", json, "invalid", 400, "no review"},
		{"POST", json, "error", 500, "no API server"},
		{"POST", json, "panic", 500, "panic: no such luck"},
		{"POST", json, "slow", 504, "deadline exceeded"},
	} {
		code, answer := ask(handler, test.method, test.contentType, strings.NewReader(test.body))
		if code != test.code || !strings.Contains(answer, test.answer) {
			t.Errorf("%s %s %.20q: %d %q, want %d %q", test.method, test.contentType, test.body, code, answer, test.code, test.answer)
		}
	}
}

// endless is a body without an end. It counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

// No more than AtOnce are decided at the same time, and no more read than their first 64 KiB.
// One that waits too long is answered.
func TestReviewsAtOnce(t *testing.T) {
	begun, end := make(chan struct{}, 2), make(chan struct{})
	handler := webhook.Review(webhook.Limits{Bytes: 1 << 20, Time: 100 * time.Millisecond, AtOnce: 1}, func(_ context.Context, body []byte) (any, error) {
		begun <- struct{}{}
		<-end
		return len(body), nil
	})
	first := make(chan string, 1)
	go func() {
		_, answer := ask(handler, "POST", "application/json", strings.NewReader(strings.Repeat("a", 100_000)))
		first <- answer
	}()
	<-begun
	body := &endless{}
	for _, second := range []io.Reader{body, strings.NewReader("small")} {
		code, answer := ask(handler, "POST", "application/json", second)
		if code != http.StatusGatewayTimeout || !strings.Contains(answer, "1 other reviews") || body.read > 1<<17 {
			t.Errorf("another one: %d %q, %d bytes read, want 504 and 64 KiB", code, answer, body.read)
		}
	}
	close(end)
	if answer := <-first; answer != "100000" {
		t.Errorf("the first: %q", answer)
	}
}

// The server speaks TLS, with the certificate, and ends with its context.
func TestListen(t *testing.T) {
	certificate, err := serve.NewCertificate([]string{"127.0.0.1"}, serve.Lifetime)
	if err != nil {
		t.Fatal(err)
	}
	server, err := webhook.Listen("127.0.0.1:0", false, certificate, webhook.Review(limits, echo))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()

	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate.Bundle())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	response, err := client.Post(server.URL, "application/json", strings.NewReader("review"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || string(answer) != `"review"` || response.TLS.Version < tls.VersionTLS12 {
		t.Errorf("answer %q, error %v, TLS %x", answer, err, response.TLS.Version)
	}

	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
