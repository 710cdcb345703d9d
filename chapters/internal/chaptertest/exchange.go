package chaptertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// Exchange is an expected request and its response.
type Exchange struct {
	Request string // METHOD path, and the body of a write
	Code    int
	Answer  string
}

// Expect starts an API server. The test fails unless it gets exactly these requests, in this order.
func Expect(t *testing.T, exchanges ...Exchange) *rest.Config {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		// client-go sets the timeout.
		query := r.URL.Query()
		query.Del("timeout")
		r.URL.RawQuery = query.Encode()
		body, _ := io.ReadAll(r.Body)
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), strings.TrimSpace(string(body))))
		if len(exchanges) == 0 {
			t.Errorf("%s: want no more requests", got)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		next := exchanges[0]
		exchanges = exchanges[1:]
		if diff := cmp.Diff(next.Request, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(next.Code)
		_, _ = io.WriteString(w, next.Answer)
	}))
	t.Cleanup(func() {
		server.Close()
		if len(exchanges) > 0 && !t.Failed() {
			t.Errorf("%d requests were not sent, first %s", len(exchanges), exchanges[0].Request)
		}
	})
	return &rest.Config{Host: server.URL}
}

// Status returns the response to a failed request.
func Status(code int, reason string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Status","status":"Failure","code":%d,"reason":%q,"message":"refused"}`, code, reason)
}
