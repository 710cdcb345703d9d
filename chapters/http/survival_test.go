package main

import (
	"context"
	"net/http"
	"path"
	"testing"
	"testing/synctest"
	"time"
)

// Each fault breaks the program of this chapter, and does not break the core.
func TestWhatItDoesNotSurvive(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Run("by HTTP", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer(t)
					p := play(t, s, row.play, startByHTTP)
					row.fails(t, s, p)
				})
			})
			t.Run("by the core", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer(t)
					p := play(t, s, row.play, startByCore)
					row.passes(t, s, p)
					if s.flood != "" {
						t.Errorf("a hundred times within a second: %s", s.flood)
					}
				})
			})
		})
	}
}

// play plays a fault, and an hour.
func play[P any](t *testing.T, s *server, fault func(s *server, start func()), begin func(context.Context, *testing.T, *server) P) (program P) {
	fault(s, func() {
		ctx, cancel := context.WithCancel(t.Context())
		s.mu.Lock()
		s.stop = cancel
		s.mu.Unlock()
		program = begin(ctx, t, s)
		time.Sleep(50 * time.Millisecond) // The core looks each 20 ms whether it is in sync.
		synctest.Wait()
	})
	time.Sleep(time.Hour)
	synctest.Wait()
	return program
}

// once returns what the server calls before each request: play, for the first request of
// this sort.
func once(is func(*http.Request) bool, play func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	played := make(chan struct{}, 1)
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !is(r) {
			return false
		}
		select {
		case played <- struct{}{}:
			return play(w, r)
		default:
			return false
		}
	}
}

func isPost(r *http.Request) bool { return r.Method == http.MethodPost }
func isPut(r *http.Request) bool  { return r.Method == http.MethodPut }
func isListOfFoos(r *http.Request) bool {
	return path.Base(r.URL.Path) == "foos" && !r.URL.Query().Has("watch")
}
func isWatchOfFoos(r *http.Request) bool {
	query := r.URL.Query()
	return path.Base(r.URL.Path) == "foos" && query.Has("watch") && !query.Has("sendInitialEvents")
}
