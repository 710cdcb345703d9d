package serve_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"sync/atomic"

	"example.com/byhand/internal/serve"
)

// A program that is alive from the start, and ready later.
func Example() {
	var synced atomic.Bool
	handler := serve.Handler(serve.Options{Ready: []serve.Check{{
		Name: "informer foos.samplecontroller.k8s.io",
		Err: func() error {
			if !synced.Load() {
				return errors.New("has not synced")
			}
			return nil
		},
	}}})
	ask := func(path string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		fmt.Println(path, answer.Code)
		fmt.Println(answer.Body)
	}
	ask("/healthz")
	ask("/readyz")
	synced.Store(true)
	ask("/readyz")
	ask("/readyz?verbose")
	// Output:
	// /healthz 200
	// ok
	// /readyz 503
	// [-]informer foos.samplecontroller.k8s.io failed: has not synced
	// readyz check failed
	//
	// /readyz 200
	// ok
	// /readyz?verbose 200
	// [+]informer foos.samplecontroller.k8s.io ok
	// readyz check passed
}
