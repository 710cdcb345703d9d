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
	// maxBytes limits a review. The API server accepts at most 3 MiB per object, and a review has
	// the old object as well.
	maxBytes = 10_000_000
	// maxTime limits a review's duration. It ends earlier if the API server stops waiting.
	maxTime = 8 * time.Second
	// atOnce limits concurrent reviews. One of 10 MB may allocate 400 MB.
	atOnce = 4
)

// Listen parses an address like package listen, for HTTPS. Call Run once.
func Listen(address string, remote bool, certificate *serve.Certificate, handler http.Handler) (*serve.Server, error) {
	server, err := serve.Listen(address, remote, func(*net.TCPAddr) http.Handler { return handler })
	if err != nil {
		return nil, err
	}
	server.Secure(certificate.TLS())
	return server, nil
}

// Decide handles one review. An error from Invalid means that the review is invalid, any other error
// that there is no decision.
type Decide func(ctx context.Context, body []byte) (answer any, err error)

// Review passes the body of each request to decide, and sends the result as JSON with 200. The API server
// treats any other code as a failed call: then the failurePolicy applies. The code is 400 for an error from
// Invalid, 413 for more than 10 MB, 504 for a review of more than 8 seconds, and 500 for any other error
// or a panic.
func Review(decide Decide) http.Handler { return &reviews{make(chan struct{}, atOnce), decide} }

type reviews struct {
	slots  chan struct{} // one element per running review
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
	// An error means that the client has disconnected.
	_, _ = w.Write(answer)
}

func (s *reviews) review(ctx context.Context, body []byte) (answer []byte, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%d other reviews are running: %w", atOnce, ctx.Err())
	}
	defer func() {
		// Otherwise net/http closes the connection, and the API server only reports EOF.
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

// Invalid returns an error about the review itself.
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
