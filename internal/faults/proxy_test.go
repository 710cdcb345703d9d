package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/internal/faults"
)

const pods = "/api/v1/namespaces/default/pods"

// upstream plays the API server: it notes what arrives, and a watch sends a line for each
// event of its resource.
type upstream struct {
	mu      sync.Mutex
	arrived []string
	events  map[string]chan string
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		w.(http.Flusher).Flush()
		for {
			select {
			case event := <-u.events[path.Base(r.URL.Path)]:
				fmt.Fprintln(w, event)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.arrived = append(u.arrived, r.Method+" "+r.URL.Path)
}

func (u *upstream) got() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.arrived)
}

func newProxy(t *testing.T) (*faults.Proxy, *upstream) {
	t.Helper()
	u := &upstream{events: map[string]chan string{"pods": make(chan string), "deployments": make(chan string)}}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	p, err := faults.NewProxy(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, u
}

// post sends a POST and returns the status, or "no answer".
func post(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	return response.Status
}

// What arrives, what the program hears, and whether it lives, for each fault.
func TestWrites(t *testing.T) {
	for _, test := range []struct {
		name            string
		fault           faults.Fault
		arrives, killed bool
		answer          string
	}{
		{"pass", faults.Pass, true, false, "200 OK"},
		{"kill before", faults.KillBefore, false, true, "no answer"},
		{"kill after", faults.KillAfter, true, true, "no answer"},
		{"lose the answer", faults.LoseAnswer, true, false, "no answer"},
		{"refuse", faults.Refuse, false, false, "503 Service Unavailable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, u := newProxy(t)
			var killed atomic.Bool
			p.Kill = func() { killed.Store(true) }
			p.OnWrite(func(n int, r *http.Request) faults.Fault {
				if n == 2 {
					return test.fault
				}
				return faults.Pass
			})
			// Events do not count.
			if got := post(t, p.URL+"/api/v1/namespaces/default/events"); got != "200 OK" {
				t.Errorf("an Event: %s", got)
			}
			if got := post(t, p.URL+pods); got != "200 OK" {
				t.Errorf("the first write: %s", got)
			}
			if got := post(t, p.URL+pods); got != test.answer {
				t.Errorf("the second write: %s, want %s", got, test.answer)
			}
			if arrived := len(u.got()) == 3; arrived != test.arrives {
				t.Errorf("it arrives: %t, want %t", arrived, test.arrives)
			}
			if killed.Load() != test.killed {
				t.Errorf("killed: %t, want %t", killed.Load(), test.killed)
			}
			if want := []string{"POST " + pods, "POST " + pods}; !slices.Equal(p.Writes(), want) {
				t.Errorf("writes %q, want %q", p.Writes(), want)
			}
		})
	}
}

// watch opens a watch and returns its lines. The channel is closed when it ends.
func watch(t *testing.T, url string) chan string {
	t.Helper()
	response, err := http.Get(url + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// What is held comes later, in its order, and other watches go on.
func TestHoldWatches(t *testing.T) {
	p, u := newProxy(t)
	lines, others := watch(t, p.URL+pods), watch(t, p.URL+"/apis/apps/v1/deployments")
	u.events["pods"] <- "one"
	if got := <-lines; got != "one" {
		t.Fatalf("got %q, want one", got)
	}

	release := p.HoldWatches("pods")
	u.events["pods"] <- "two"
	u.events["pods"] <- "three"
	u.events["deployments"] <- "other"
	select {
	case got := <-others:
		if got != "other" {
			t.Errorf("got %q, want other", got)
		}
	case got := <-lines:
		t.Errorf("got %q while the watch is held", got)
	}
	release()
	for _, want := range []string{"two", "three"} {
		if got := <-lines; got != want {
			t.Errorf("got %q after the release, want %q", got, want)
		}
	}
}

// A watch that is cut ends without the end of its body. One that is held, too.
func TestCutWatches(t *testing.T) {
	for _, hold := range []bool{false, true} {
		p, _ := newProxy(t)
		response, err := http.Get(p.URL + pods + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if hold {
			p.HoldWatches("pods")
		}
		p.CutWatches("deployments")
		p.CutWatches("pods")
		if _, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("hold %t: the watch ends as if the server had ended it", hold)
		}
	}
}

// The kubeconfig leads to the proxy.
func TestKubeconfig(t *testing.T) {
	p, u := newProxy(t)
	file, err := p.Kubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if got := post(t, config.Host+pods); got != "200 OK" || len(u.got()) != 1 {
		t.Errorf("answer %q, arrived %q", got, u.got())
	}
}
