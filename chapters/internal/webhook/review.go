package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"example.com/byhand/internal/serve"
)

// Limits bound what reviews cost, in memory AtOnce times a few Bytes.
type Limits struct {
	// Bytes is how large the body of a review may be.
	Bytes int64
	// Time is how long one may take. What the API server says is the limit if it is less:
	// then it does not wait any longer.
	Time time.Duration
	// AtOnce is how many are read and decided at the same time. The others wait, unread.
	AtOnce int
}

// DefaultLimits are for a review of one object. The API server takes at most 3 MiB of it,
// and a review has the old one as well.
var DefaultLimits = Limits{Bytes: 10_000_000, Time: 8 * time.Second, AtOnce: 8}

// Listen takes an address as package listen does, for HTTPS. Call Run, once.
func Listen(address string, remote bool, certificate *Certificate, handler http.Handler) (*serve.Server, error) {
	server, err := serve.Listen(address, remote, func(*net.TCPAddr) http.Handler { return handler })
	if err != nil {
		return nil, err
	}
	server.Secure(certificate.TLS())
	return server, nil
}

// Decide answers one review. An error of Invalid is about the review, any other one means
// that there is no answer.
type Decide func(ctx context.Context, body []byte) (answer any, err error)

// Review hands the body of each request to decide, and sends what it returns as JSON with
// 200. Everything else is a call that failed, to the API server: what becomes of the
// request then, the failurePolicy says. An error of decide is answered with 500, one of
// Invalid with 400, more Bytes with 413, another content type with 415, another method
// with 405. A panic is answered with 500, and 504 means that the time is over.
func Review(limits Limits, decide Decide) http.Handler {
	return &reviews{limits, make(chan struct{}, limits.AtOnce), decide}
}

type reviews struct {
	limits Limits
	slots  chan struct{} // has one element for each review that is decided
	decide Decide
}

func (s *reviews) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout(r, s.limits.Time))
	defer cancel()
	answer, err := s.review(ctx, w, r)
	if err != nil {
		klog.FromContext(ctx).Error(err, "A review failed", "path", r.URL.Path)
		http.Error(w, err.Error(), code(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// If the client has gone, nobody is left to be told.
	_, _ = w.Write(answer)
}

func (s *reviews) review(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer []byte, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%d other reviews take all the time: %w", s.limits.AtOnce, ctx.Err())
	}
	defer func() {
		// net/http would close the connection, and the API server say EOF and no more.
		if reason := recover(); reason != nil {
			klog.FromContext(ctx).Error(nil, "Panic", "reason", reason, "stack", string(debug.Stack()))
			answer, err = nil, fmt.Errorf("panic: %v", reason)
		}
	}()
	body, err := read(w, r, s.limits.Bytes)
	if err != nil {
		return nil, err
	}
	result, err := s.decide(ctx, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// read returns the body, if it is a review's.
func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, failed(http.StatusMethodNotAllowed, "the method is %s, want POST", r.Method)
	}
	header := r.Header.Get("Content-Type")
	if contentType, _, err := mime.ParseMediaType(header); err != nil || contentType != "application/json" {
		return nil, failed(http.StatusUnsupportedMediaType, "the content type is %q, want application/json", header)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, failed(http.StatusRequestEntityTooLarge, "the review has more than %d bytes", limit)
	}
	if err != nil {
		return nil, Invalid("read the review: %w", err)
	}
	return body, nil
}

// timeout is how long the API server waits, which it says in the query, or less.
func timeout(r *http.Request, limit time.Duration) time.Duration {
	if asked, err := time.ParseDuration(r.URL.Query().Get("timeout")); err == nil && asked > 0 {
		return min(asked, limit)
	}
	return limit
}

// failure is an error with the status that it is answered with.
type failure struct {
	error
	code int
}

func (f failure) Unwrap() error { return f.error }

func failed(code int, format string, args ...any) error {
	return failure{fmt.Errorf(format, args...), code}
}

// Invalid is an error about the review itself.
func Invalid(format string, args ...any) error {
	return failed(http.StatusBadRequest, format, args...)
}

func code(err error) int {
	var failure failure
	switch {
	case errors.As(err, &failure):
		return failure.code
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}
