package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"example.com/byhand/compare/peers"
)

// counting is an API server that counts what it is asked, and stores nothing.
type counting struct {
	mu      sync.Mutex
	counts  map[string]int
	created int
	changed chan struct{}
	// refuse is a method that is refused.
	refuse string
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method
	if r.URL.Query().Get("watch") == "true" {
		what = "WATCH"
	}
	c.mu.Lock()
	c.counts[what]++
	c.mu.Unlock()
	switch {
	case r.Header.Get("X-Remote-User") != visitor || r.Method == c.refuse:
		http.Error(w, "no", http.StatusForbidden)
	case what == "WATCH":
		c.watch(w, r)
	case what == http.MethodPost:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.created++
		close(c.changed)
		c.changed = make(chan struct{})
	default:
		fmt.Fprint(w, `{"metadata":{"resourceVersion":"7"}}`)
	}
}

// watch tells of each object from now on.
func (c *counting) watch(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	told := c.created
	c.mu.Unlock()
	for {
		w.(http.Flusher).Flush()
		c.mu.Lock()
		created, changed := c.created, c.changed
		c.mu.Unlock()
		for ; told < created; told++ {
			fmt.Fprintln(w, `{"type":"ADDED"}`)
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// newLoad returns who asks this server. The process whose CPU time counts does nothing.
func newLoad(t *testing.T, handler http.Handler) (l *load, reported *[]string) {
	t.Helper()
	idle, err := start(exec.Command("sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(idle.Kill)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	reported = &[]string{}
	return &load{
		process:   idle,
		APIServer: peers.APIServers()[0], client: server.Client(), root: server.URL,
		report: func(name string, operations int, values ...benchfmt.Value) error {
			for _, v := range values {
				if !(v.Value >= 0) {
					t.Errorf("%s: %v %s", name, v.Value, v.Unit)
				}
			}
			*reported = append(*reported, fmt.Sprintf("%s ×%d", name, operations))
			return nil
		},
	}, reported
}

// Each server is asked for the same, in the same order.
func TestLoad(t *testing.T) {
	server := &counting{counts: map[string]int{}, changed: make(chan struct{})}
	l, reported := newLoad(t, server)
	if err := l.measure(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"APIServer/do=create/clients=1/server=byhand ×4", "APIServer/do=create/clients=16/server=byhand ×16",
		"APIServer/do=get/clients=16/server=byhand ×40", "APIServer/do=list/clients=4/server=byhand ×2",
		"APIServer/do=watch/clients=100/server=byhand ×400", "APIServerMemory/objects=20/server=byhand ×1",
	}
	if diff := cmp.Diff(want, *reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	// A topping, 20 objects and 4 for the watchers; 40 objects, 2 lists and a version.
	if diff := cmp.Diff(map[string]int{"POST": 25, "GET": 43, "WATCH": 100}, server.counts); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// What is refused is not measured.
func TestLoadRefused(t *testing.T) {
	l, reported := newLoad(t, &counting{counts: map[string]int{}, changed: make(chan struct{}), refuse: http.MethodPost})
	if err := l.measure(t.Context(), 20); err == nil || !strings.Contains(err.Error(), "403 Forbidden: no") || len(*reported) > 0 {
		t.Errorf("error %v, reported %v", err, *reported)
	}
}

// The watchers do not wait for ever if an event is missing.
func TestHearEnds(t *testing.T) {
	for _, stream := range []string{"", `{"type":"ADDED"}` + "\n", `{"type":"ERROR"}` + "\n" + `{"type":"ADDED"}` + "\n"} {
		if err := hear(strings.NewReader(stream), 2); err == nil {
			t.Errorf("no error after %q", stream)
		}
	}
}
