package webhook

import (
	"bytes"
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

	"example.com/byhand/kit/serve"
)

// Limits bound what reviews cost, in memory AtOnce times a few Bytes.
type Limits struct {
	// Bytes is how large the body of a review may be.
	Bytes int64
	// Time is how long one may take. It ends sooner where the API server does not wait any longer.
	Time time.Duration
	// AtOnce is how many are decided at the same time, and of how many more than the first
	// 64 KiB is read, until they are answered. The others wait.
	AtOnce int
}

// small is how much of a review is read in any case. Nearly all are smaller, so a client that
// sends a large one slowly, or does not read the answer, does not hold them up.
const small = 64 << 10

// DefaultLimits are for a review of one object. The API server takes at most 3 MiB of it,
// and a review has the old one as well.
var DefaultLimits = Limits{Bytes: 10_000_000, Time: 8 * time.Second, AtOnce: 8}

// Listen takes an address as package listen does, for HTTPS. Call Run, once.
func Listen(address string, remote bool, certificate *serve.Certificate, handler http.Handler) (*serve.Server, error) {
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
	return &reviews{limits, make(slots, limits.AtOnce), make(slots, limits.AtOnce), decide}
}

type reviews struct {
	limits Limits
	large  slots // of those that are read beyond what is small, until they are answered
	slots  slots // of those that are decided
	decide Decide
}

// slots has one element for each review that has one of them.
type slots chan struct{}

// take waits for a slot, and returns what gives it back.
func (s slots) take(ctx context.Context) (release func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return func() {}, fmt.Errorf("%d other reviews take all the time: %w", cap(s), ctx.Err())
	}
}

func (s *reviews) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := r.Header.Get("Content-Type")
	contentType, _, _ := mime.ParseMediaType(header)
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, fmt.Sprintf("the method is %s, want POST", r.Method), http.StatusMethodNotAllowed)
		return
	case contentType != "application/json":
		http.Error(w, fmt.Sprintf("the content type is %q, want application/json", header), http.StatusUnsupportedMediaType)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.Time)
	defer cancel()
	body, release, err := s.read(ctx, w, r)
	// Not before the answer is sent: one that a client does not read stays in memory.
	defer release()
	var answer []byte
	if err == nil {
		answer, err = s.review(ctx, body)
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "A review failed", "path", r.URL.Path)
		http.Error(w, err.Error(), code(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client has gone.
	_, _ = w.Write(answer)
}

// read returns the body, and what gives back the slot that it takes for a large one.
func (s *reviews) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (text []byte, release func(), err error) {
	release = func() {}
	whole, body := http.MaxBytesReader(w, r.Body, s.limits.Bytes), &bytes.Buffer{}
	_, err = body.ReadFrom(io.LimitReader(whole, small))
	if err == nil && body.Len() == small {
		if release, err = s.large.take(ctx); err != nil {
			return nil, release, err
		}
		_, err = body.ReadFrom(whole)
	}
	return body.Bytes(), release, err
}

func (s *reviews) review(ctx context.Context, body []byte) (answer []byte, err error) {
	release, err := s.slots.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	defer func() {
		// net/http would close the connection, and the API server say EOF and no more.
		if reason := recover(); reason != nil {
			klog.FromContext(ctx).Error(nil, "Panic", "reason", reason, "stack", string(debug.Stack()))
			answer, err = nil, fmt.Errorf("panic: %v", reason)
		}
	}()
	result, err := s.decide(ctx, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

type invalid struct{ error }

// Invalid is an error about the review itself.
func Invalid(format string, args ...any) error { return invalid{fmt.Errorf(format, args...)} }

func code(err error) int {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &invalid{}):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}
