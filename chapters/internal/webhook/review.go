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

	"example.com/byhand/kit/serve"
)

const (
	// maxBytes is the size of a review. The API server takes at most 3 MiB of an object, and a
	// review has the old one as well.
	maxBytes = 10_000_000
	// maxTime is how long a review may take. It ends sooner if the API server does not wait any longer.
	maxTime = 8 * time.Second
	// atOnce is how many reviews are decided at the same time. One of 10 MB may allocate 400 MB.
	atOnce = 4
)

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
// Invalid with 400, more than 10 MB with 413, another content type with 415, another method
// with 405. A panic is answered with 500, and 504 means that 8 seconds are over.
func Review(decide Decide) http.Handler { return &reviews{make(chan struct{}, atOnce), decide} }

type reviews struct {
	slots  chan struct{} // has one element for each review that is being decided
	decide Decide
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
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
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

func (s *reviews) review(ctx context.Context, body []byte) (answer []byte, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%d other reviews take all the time: %w", atOnce, ctx.Err())
	}
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
