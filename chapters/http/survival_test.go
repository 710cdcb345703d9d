package main

import (
	"context"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaults(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Run("by HTTP", func(t *testing.T) { synctest.Test(t, row.breaks) })
			t.Run("by the core", func(t *testing.T) { synctest.Test(t, row.isSurvived) })
		})
	}
}

func (r row) breaks(t *testing.T) {
	s := newServer(t)
	p := play(t, s, r.play, startByHTTP)
	if r.ends != "" && (p.err == nil || !strings.Contains(p.err.Error(), r.ends) || s.has("new")) {
		t.Errorf("error %v, want one with %q; the new Foo has a Deployment: %t", p.err, r.ends, s.has("new"))
	}
	if r.floods && (!s.flood || s.Get(fooPath + "new").Object["status"] != nil) {
		t.Errorf("a hundred POSTs were rejected within a second: %t; the Foo is %v", s.flood, s.Get(fooPath+"new"))
	}
	if r.fails != nil {
		r.fails(t, s, p)
	}
}

func (r row) isSurvived(t *testing.T) {
	s := newServer(t)
	p := play(t, s, r.play, startByCore)
	if r.ends != "" && !s.has("new") {
		t.Error("the new Foo has no Deployment")
	}
	if s.flood {
		t.Error("a hundred POSTs were rejected within a second")
	}
	if r.passes != nil {
		r.passes(t, s, p)
	}
}

// play injects the row's fault, then waits an hour.
func play[P any](t *testing.T, s *server, fault func(s *server, start func()), begin func(context.Context, *testing.T, *server) P) (program P) {
	fault(s, func() {
		ctx, cancel := context.WithCancel(t.Context())
		s.mu.Lock()
		s.stop = cancel
		s.mu.Unlock()
		program = begin(ctx, t, s)
		time.Sleep(50 * time.Millisecond) // The core checks every 20 ms whether it is in sync.
		synctest.Wait()
	})
	time.Sleep(time.Hour)
	synctest.Wait()
	return program
}

// once returns a function for the server to call before each request: it calls play for the first
// request that matches.
func once(is func(*http.Request) bool, play func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	var played atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) bool {
		return is(r) && played.CompareAndSwap(false, true) && play(w, r)
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
