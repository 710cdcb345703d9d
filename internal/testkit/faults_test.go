package testkit_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/internal/testkit"
)

const pods = "/api/v1/namespaces/default/pods"

func TestTargetOf(t *testing.T) {
	for path, want := range map[string]testkit.Target{
		"/apis/apps/v1/namespaces/one/deployments/two/scale":          {"apps", "deployments", "one", "two", "scale"},
		"/apis/samplecontroller.k8s.io/v1alpha1/foos":                 {"samplecontroller.k8s.io", "foos", "", "", ""},
		"/apis/samplecontroller.k8s.io/v1alpha1/namespaces/one/foos":  {"samplecontroller.k8s.io", "foos", "one", "", ""},
		"/api/v1/namespaces/one":                                      {"", "namespaces", "", "one", ""},
		"/api/v1/namespaces/one/status":                               {"", "namespaces", "", "one", "status"},
		"/apis/coordination.k8s.io/v1/namespaces/one/leases/a-leader": {"coordination.k8s.io", "leases", "one", "a-leader", ""},
		"/version":                 {},
		"/apis/apps/v1":            {},
		"/api/v1":                  {},
		"/api/v1/namespaces/one/x": {"", "x", "one", "", ""},
	} {
		if diff := cmp.Diff(want, testkit.TargetOf(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// apiServer plays the API server: a watch sends a line for each event of its resource, and
// all else is answered with what was sent.
type apiServer struct {
	arrived atomic.Int32
	events  map[string]chan string
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.arrived.Add(1)
		_, _ = io.Copy(w, r.Body)
		return
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case event := <-s.events[path.Base(r.URL.Path)]:
			fmt.Fprintln(w, event)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func newAPIServer() *apiServer {
	return &apiServer{events: map[string]chan string{"pods": make(chan string), "deployments": make(chan string)}}
}

func newProxy(t *testing.T) (*testkit.Proxy, *apiServer) {
	t.Helper()
	s := newAPIServer()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p, err := testkit.NewProxy(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, s
}

// both runs a test with Faults before a handler, and before an API server that is elsewhere.
func both(t *testing.T, test func(t *testing.T, url string, f *testkit.Faults, s *apiServer)) {
	t.Run("handler", func(t *testing.T) {
		s := newAPIServer()
		f := &testkit.Faults{Next: s}
		server := httptest.NewServer(f)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		test(t, server.URL, f, s)
	})
	t.Run("proxy", func(t *testing.T) {
		p, s := newProxy(t)
		test(t, p.URL, &p.Faults, s)
	})
}

// post sends a POST and returns status and body, or "no answer".
func post(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(`{"n":1}`))
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.Status + " " + string(body)
}

// What arrives, what the program hears, what the log says, and whether the program lives,
// for each fault.
func TestWrites(t *testing.T) {
	for _, test := range []struct {
		name            string
		fault           testkit.Fault
		arrives, killed bool
		answer          string
		code            int
	}{
		{"pass", testkit.Pass, true, false, `200 OK {"n":1}`, 200},
		{"kill before", testkit.KillBefore, false, true, "no answer", 0},
		{"kill after", testkit.KillAfter, true, true, "no answer", 0},
		{"lose the answer", testkit.LoseAnswer, true, false, "no answer", 0},
		{"refuse", testkit.Refuse, false, false, "503 Service Unavailable", 503},
	} {
		t.Run(test.name, func(t *testing.T) {
			both(t, func(t *testing.T, url string, f *testkit.Faults, s *apiServer) {
				var killed atomic.Bool
				f.Kill = func() { killed.Store(true) }
				f.OnWrite(func(n int, r *http.Request) testkit.Fault {
					if n == 2 {
						return test.fault
					}
					return testkit.Pass
				})
				// Events do not count.
				if got := post(t, url+"/api/v1/namespaces/default/events"); got != `200 OK {"n":1}` {
					t.Errorf("an Event: %s", got)
				}
				if got := post(t, url+pods); got != `200 OK {"n":1}` {
					t.Errorf("the first write: %s", got)
				}
				if got := post(t, url+pods); !strings.HasPrefix(got, test.answer) {
					t.Errorf("the second write: %s, want %s", got, test.answer)
				}
				if arrived := s.arrived.Load() == 3; arrived != test.arrives {
					t.Errorf("it arrives: %t, want %t", arrived, test.arrives)
				}
				if killed.Load() != test.killed {
					t.Errorf("killed: %t, want %t", killed.Load(), test.killed)
				}
				if code := f.Log()[2].Code; code != test.code {
					t.Errorf("code %d in the log, want %d", code, test.code)
				}
			})
		})
	}
}

// What is intercepted goes no further, and a nil ends it. What goes on is mutated.
func TestInterceptAndMutate(t *testing.T) {
	p, s := newProxy(t)
	p.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusTeapot)
		return true
	})
	p.Mutate(func(r *http.Request, object map[string]any) { object["n"] = object["n"].(int64) + 1 })
	if got := post(t, p.URL+pods); got != "418 I'm a teapot " || s.arrived.Load() != 0 {
		t.Errorf("%q, and %d arrived", got, s.arrived.Load())
	}
	p.Intercept(nil)
	if got := post(t, p.URL+pods); got != `200 OK {"n":2}` {
		t.Errorf("mutated: %q", got)
	}
	p.Mutate(nil)
	if got := post(t, p.URL+pods); got != `200 OK {"n":1}` {
		t.Errorf("passed: %q", got)
	}
}

// Time passes for the log as for everybody in a bubble, and what is told once is not told again.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &testkit.Faults{Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, "{}")
		})}
		begin := time.Now()
		send := func(method, path string) {
			f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
		}
		send("PUT", pods+"/one/status")
		send("GET", pods+"/one")
		if diff := cmp.Diff([]string{"PUT pods/one/status", "GET pods/one"}, f.Requests()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, path := range []string{pods, pods + "?watch=true", "/version"} {
			send("GET", path)
		}
		send("POST", pods)
		if diff := cmp.Diff([]string{"POST pods"}, f.Requests()); diff != "" {
			t.Errorf("since then (-want +got):\n%s", diff)
		}
		want := []testkit.Request{
			{Method: "PUT", Path: pods + "/one/status", Target: testkit.Target{Resource: "pods", Namespace: "default", Name: "one", Subresource: "status"}},
			{Method: "GET", Path: pods + "/one", Target: testkit.Target{Resource: "pods", Namespace: "default", Name: "one"}},
			{Method: "GET", Path: pods, Target: testkit.Target{Resource: "pods", Namespace: "default"}},
			{Method: "GET", Path: pods, Target: testkit.Target{Resource: "pods", Namespace: "default"}, Watch: true},
			{Method: "GET", Path: "/version"},
			{Method: "POST", Path: pods, Target: testkit.Target{Resource: "pods", Namespace: "default"}},
		}
		for i := range want {
			want[i].At, want[i].Code, want[i].Took = begin.Add(time.Duration(i)*time.Second), 200, time.Second
		}
		if diff := cmp.Diff(want, f.Log()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		f.Forget()
		if len(f.Log()) > 0 || len(f.Requests()) > 0 {
			t.Errorf("%v is not forgotten", f.Log())
		}
	})
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
	both(t, func(t *testing.T, url string, f *testkit.Faults, s *apiServer) {
		lines, others := watch(t, url+pods), watch(t, url+"/apis/apps/v1/deployments")
		s.events["pods"] <- "one"
		if got := <-lines; got != "one" {
			t.Fatalf("got %q, want one", got)
		}

		release := f.HoldWatches("pods")
		s.events["pods"] <- "two"
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			s.events["pods"] <- "three" // A handler waits with it.
		}()
		s.events["deployments"] <- "other"
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
		<-sent
	})
}

// A watch that is opened while its resource is held is answered, and refused if it is refused.
func TestOpenHeldWatch(t *testing.T) {
	both(t, func(t *testing.T, url string, f *testkit.Faults, s *apiServer) {
		f.HoldWatches("pods")
		watch(t, url+pods)
		s.events["pods"] <- "held"
		f.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			http.Error(w, "gone", http.StatusGone)
			return true
		})
		if got := <-watch(t, url+pods); got != "gone" {
			t.Errorf("got %q, want the refusal", got)
		}
	})
}

// A watch that is cut ends without the end of its body, one that is ended with it, also if
// it is held and something waits.
func TestCutAndEndWatches(t *testing.T) {
	for _, hold := range []bool{false, true} {
		for _, cut := range []bool{false, true} {
			t.Run(fmt.Sprintf("hold %t cut %t", hold, cut), func(t *testing.T) {
				both(t, func(t *testing.T, url string, f *testkit.Faults, s *apiServer) {
					response, err := http.Get(url + pods + "?watch=true")
					if err != nil {
						t.Fatal(err)
					}
					defer response.Body.Close()
					if hold {
						f.HoldWatches("pods")
						s.events["pods"] <- "held"
					}
					stop := f.EndWatches
					if cut {
						stop = f.CutWatches
					}
					stop("deployments")
					stop("pods")
					if body, err := io.ReadAll(response.Body); len(body) > 0 || (err != nil) != cut {
						t.Errorf("body %q, error %v", body, err)
					}
				})
			})
		}
	}
}

// The kubeconfig leads to the proxy.
func TestKubeconfig(t *testing.T) {
	p, _ := newProxy(t)
	file, err := p.Kubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if got := post(t, config.Host+pods); got != `200 OK {"n":1}` || len(p.Log()) != 1 {
		t.Errorf("answer %q, log %v", got, p.Log())
	}
}
