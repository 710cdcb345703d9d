package testkit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
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
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/kit/testkit"
)

const pods = "/api/v1/namespaces/default/pods"

func TestTargetOf(t *testing.T) {
	for path, want := range map[string]testkit.Target{
		"/apis/apps/v1/namespaces/one/deployments/two/scale": {"apps", "v1", "deployments", "one", "two", "scale"},
		"/apis/coordination.k8s.io/v1/leases":                {"coordination.k8s.io", "v1", "leases", "", "", ""},
		"/api/v1/namespaces/one":                             {"", "v1", "namespaces", "", "one", ""},
		"/api/v1/namespaces/one/status":                      {"", "v1", "namespaces", "", "one", "status"},
		"/version":                                           {},
		"/api/v1":                                            {},
		"/api/v1/namespaces/one/x":                           {"", "v1", "x", "one", "", ""},
	} {
		if diff := cmp.Diff(want, testkit.TargetOf(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// apiServer simulates the API server: a watch sends a line at once, and one for each event of its resource. The
// response to any other request is the request's body.
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
	fmt.Fprintln(w, "now")
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

type program struct {
	*http.Client
	*testkit.Faults
	*apiServer
	url string
}

// inBoth runs a test twice: in memory, in a synctest bubble, and through a proxy to an HTTP server.
func inBoth(t *testing.T, test func(t *testing.T, p *program)) {
	newAPIServer := func() *apiServer {
		return &apiServer{events: map[string]chan string{"pods": make(chan string), "deployments": make(chan string)}}
	}
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newAPIServer()
			f := &testkit.Faults{Next: s}
			test(t, &program{&http.Client{Transport: testkit.Transport{Handler: f}}, f, s, "http://api.test"})
		})
	})
	t.Run("proxy", func(t *testing.T) {
		s := newAPIServer()
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		proxy := newProxy(t, server.URL)
		test(t, &program{http.DefaultClient, &proxy.Faults, s, proxy.URL})
	})
}

func newProxy(t *testing.T, host string) *testkit.Proxy {
	t.Helper()
	proxy, err := testkit.NewProxy(&rest.Config{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy
}

// post sends a POST and returns status and body, or "no answer".
func (p *program) post(path string) string {
	response, err := p.Post(p.url+path, "application/json", strings.NewReader(`{"n":1}`))
	if err != nil {
		return "no answer"
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.Status + " " + string(body)
}

// watch opens a watch and returns its lines, and "ended" or "broken" as the last one.
func (p *program) watch(t *testing.T, path string) chan string {
	t.Helper()
	response, err := p.Get(p.url + path + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	lines := make(chan string, 10)
	go func() {
		scanner, last := bufio.NewScanner(response.Body), "ended"
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		if scanner.Err() != nil {
			last = "broken"
		}
		lines <- last
	}()
	return lines
}

// next fails the test unless these are the next lines of a watch.
func next(t *testing.T, lines chan string, want ...string) {
	t.Helper()
	for _, want := range want {
		if got := <-lines; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Each fault determines whether the request arrives, the client's response, the logged code, and whether the
// program is killed.
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
			inBoth(t, func(t *testing.T, p *program) {
				var killed atomic.Bool
				p.Kill = func() { killed.Store(true) }
				p.OnWrite(func(n int, r *http.Request) testkit.Fault {
					if n == 2 {
						return test.fault
					}
					return testkit.Pass
				})
				// Events do not count.
				if got := p.post("/api/v1/namespaces/default/events"); got != `200 OK {"n":1}` {
					t.Errorf("an Event: %s", got)
				}
				if got := p.post(pods); got != `200 OK {"n":1}` {
					t.Errorf("the first write: %s", got)
				}
				if got := p.post(pods); !strings.HasPrefix(got, test.answer) {
					t.Errorf("the second write: %s, want %s", got, test.answer)
				}
				if arrived := p.arrived.Load() == 3; arrived != test.arrives {
					t.Errorf("it arrives: %t, want %t", arrived, test.arrives)
				}
				if killed.Load() != test.killed {
					t.Errorf("killed: %t, want %t", killed.Load(), test.killed)
				}
				if code := p.Log()[2].Code; code != test.code {
					t.Errorf("code %d in the log, want %d", code, test.code)
				}
			})
		})
	}
}

// An intercepted request goes no further; a nil Intercept ends that. Other requests are mutated.
func TestInterceptAndMutate(t *testing.T) {
	inBoth(t, func(t *testing.T, p *program) {
		p.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusTeapot)
			return true
		})
		p.Mutate(func(r *http.Request, object map[string]any) { object["n"] = object["n"].(int64) + 9 })
		if got := p.post(pods); got != "418 I'm a teapot " || p.arrived.Load() != 0 {
			t.Errorf("%q, and %d arrived", got, p.arrived.Load())
		}
		p.Intercept(nil)
		if got := p.post(pods); got != `200 OK {"n":10}` {
			t.Errorf("mutated: %q", got)
		}
		p.Mutate(nil)
		if got := p.post(pods); got != `200 OK {"n":1}` {
			t.Errorf("passed: %q", got)
		}
	})
}

// An object of a built-in kind, of any group, that a client sends as protobuf is mutated, and arrives as JSON.
func TestMutateProtobuf(t *testing.T) {
	var sent bytes.Buffer
	role := &rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if err := protobuf.NewSerializer(nil, nil).Encode(role, &sent); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	f := &testkit.Faults{Next: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _ = json.NewDecoder(r.Body).Decode(&got) })}
	f.Mutate(func(_ *http.Request, object map[string]any) { object["rules"] = "mutated" })
	r := httptest.NewRequest("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", &sent)
	r.Header.Set("Content-Type", runtime.ContentTypeProtobuf)
	f.ServeHTTP(httptest.NewRecorder(), r)
	if got["kind"] != "Role" || got["rules"] != "mutated" {
		t.Errorf("what arrives: %v", got)
	}
}

// Log has every request, with its start and its duration. Requests returns only requests about one object
// that were not returned before.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &testkit.Faults{Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			w.WriteHeader(http.StatusOK)
		})}
		for _, want := range []struct{ request, object, logged string }{
			{"PUT " + pods + "/one/status", "[PUT pods/one/status]", "PUT pods/one/status"},
			{"GET " + pods + "/one", "[GET pods/one]", "GET pods/one"},
			{"GET " + pods, "[]", "GET pods"},
			{"GET " + pods + "?watch=true", "[]", "GET pods watch"},
			{"GET /version", "[]", "GET "},
			{"POST " + pods, "[POST pods]", "POST pods"},
		} {
			method, path, _ := strings.Cut(want.request, " ")
			begin := time.Now()
			f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
			if got := fmt.Sprint(f.Requests()); got != want.object {
				t.Errorf("%s: requests %s, want %s", want.request, got, want.object)
			}
			r := f.Log()[len(f.Log())-1]
			logged := r.Method + " " + r.Target.String()
			if r.Watch {
				logged += " watch"
			}
			if logged != want.logged || r.Code != http.StatusOK || r.At != begin || r.Took != time.Second {
				t.Errorf("%s: logged %s, %d at %s, took %s", want.request, logged, r.Code, r.At, r.Took)
			}
		}
		if f.Forget(); len(f.Log()) > 0 || len(f.Requests()) > 0 {
			t.Errorf("the log is not empty: %v", f.Log())
		}
	})
}

// Held events arrive later, in order. Other watches continue.
func TestHoldWatches(t *testing.T) {
	inBoth(t, func(t *testing.T, p *program) {
		lines, others := p.watch(t, pods), p.watch(t, "/apis/apps/v1/deployments")
		next(t, lines, "now")
		release := p.HoldWatches("pods")
		p.events["pods"] <- "two"
		go func() { p.events["pods"] <- "three" }() // The watch's handler is blocked.
		p.events["deployments"] <- "other"
		next(t, others, "now", "other")
		select {
		case got := <-lines:
			t.Errorf("got %q while the watch is held", got)
		default:
		}
		release()
		next(t, lines, "two", "three")
	})
}

// A watch that is cut breaks, and a watch that is ended ends, also if it was opened while its
// resource is held. Other watches continue.
func TestCutAndEndWatches(t *testing.T) {
	for end, stop := range map[string]func(*program){
		"ended":  func(p *program) { p.EndWatches("pods") },
		"broken": func(p *program) { p.CutWatches("pods") },
	} {
		t.Run(end, func(t *testing.T) {
			inBoth(t, func(t *testing.T, p *program) {
				lines, others := p.watch(t, pods), p.watch(t, "/apis/apps/v1/deployments")
				next(t, lines, "now")
				stop(p)
				next(t, lines, end)
				p.HoldWatches("pods")
				lines = p.watch(t, pods)
				stop(p)
				next(t, lines, end)
				p.events["deployments"] <- "goes on"
				next(t, others, "now", "goes on")
			})
		})
	}
}

// The kubeconfig leads to the proxy. If no API server answers, the proxy does not answer either.
func TestKubeconfig(t *testing.T) {
	proxy := newProxy(t, "127.0.0.1:1")
	file, err := proxy.Kubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Client: http.DefaultClient, url: config.Host}
	if got, log := p.post(pods), proxy.Log(); got != "no answer" || len(log) != 1 {
		t.Errorf("%q, log %v", got, log)
	}
}
