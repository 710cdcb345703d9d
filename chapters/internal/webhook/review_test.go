package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/byhand/chapters/internal/webhook"
)

func ask(handler http.Handler, method, contentType, body string) (code int, answer string) {
	request, recorder := httptest.NewRequest(method, "/", strings.NewReader(body)), httptest.NewRecorder()
	request.Header.Set("Content-Type", contentType)
	handler.ServeHTTP(recorder, request)
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

// TestReview: every request gets a response, even after a panic.
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
		return string(body), nil
	}
	const json = "application/json"
	for _, test := range []struct {
		method, contentType, body string
		code                      int
		answer                    string
	}{
		{"POST", json, "review", 200, `"review"`},
		{"POST", json, strings.Repeat("a", 10_000_001), 413, "too large"},
		{"GET", json, "", 405, "want POST"},
		{"POST", "text/plain", "review", 415, "text/plain"},
		{"POST", json, "invalid", 400, "no review"},
		{"POST", json, "error", 500, "no API server"},
		{"POST", json, "panic", 500, "panic: no such luck"},
		{"POST", json, "slow", 504, "deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			code, answer := ask(webhook.Review(decide), test.method, test.contentType, test.body)
			if code != test.code || !strings.Contains(answer, test.answer) {
				t.Errorf("%s %s %.20q: %d %q, want %d %q", test.method, test.contentType, test.body, code, answer, test.code, test.answer)
			}
		})
	}
}

// TestReviewsAtOnce: four reviews run at the same time. One that waits too long gets a response.
func TestReviewsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		handler := webhook.Review(func(context.Context, []byte) (any, error) {
			<-end
			return "decided", nil
		})
		var deciding sync.WaitGroup
		for range 4 {
			deciding.Go(func() {
				if code, answer := ask(handler, "POST", "application/json", ""); code != http.StatusOK {
					t.Errorf("%d %s, want 200", code, answer)
				}
			})
		}
		synctest.Wait()
		if code, answer := ask(handler, "POST", "application/json", ""); code != http.StatusGatewayTimeout || !strings.Contains(answer, "4 other reviews") {
			t.Errorf("the fifth: %d %q, want 504", code, answer)
		}
		close(end)
		deciding.Wait()
		if code, answer := ask(handler, "POST", "application/json", ""); code != http.StatusOK {
			t.Errorf("after them: %d %q, want 200", code, answer)
		}
	})
}
