package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/observe/app"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/testkit"
)

// These tests call run as main does, with flags, on an API server in memory. They test how run connects
// its parts; each part has its own tests. A failure begins with the name of the wrongly connected part.

// The Lease is in the kubeconfig's namespace.
const (
	projects    = "/apis/examples-gzh.com/v1alpha1/namespaces/default/projects/"
	foos        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"
	deployments = "/apis/apps/v1/namespaces/default/deployments/"
	lease       = "/apis/coordination.k8s.io/v1/namespaces/home/leases/byhand"
)

const deadline = 10 * time.Second

var client = http.Client{Timeout: deadline}

// TestRun follows Foos through the whole program.
func TestRun(t *testing.T) {
	s := newServer(t)
	s.add(projects+"project", replicas(1))
	s.add(deployments+"other", replicas(1))
	p := s.start("--resync", "0") // Nothing happens without an event.
	p.serves("informers", "/readyz?verbose", `\+]leader-election ok`, `\+]informer/foos.samplecontroller.k8s.io ok`, `\+]informer/deployments.apps ok`)
	p.prints("WaitForSync", "in memory: 0 foos.samplecontroller.k8s.io, 1 deployments.apps")
	p.prints("handler of Projects", "found    Project default/project: replicas 1")
	p.prints("lead", "16 workers start")

	s.add(foos+"foo", wants("one"))
	p.prints("handler of Foos", "added    Foo default/foo: wants Deployment one, replicas 1; no status yet")
	s.sends("Reconciler: a Foo is created", "POST deployments", "PUT foos/foo/status")
	p.prints("observe.Requests, observe.Reconcile", `sent     POST .*/deployments → 201 Created  \(for Foo default/foo\)`)
	p.prints("handler of Deployments", "added    Deployment default/one: of Foo foo, 0 of 1 available")
	s.edit(deployments+"one", "status", map[string]any{"replicas": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1), "observedGeneration": int64(9)})
	s.sends("handler of Deployments: its Pods run", "PUT foos/foo/status")
	p.prints("handler of Foos", "wants Deployment one, replicas 1; Ready True") // An earlier change would cause a Conflict.
	s.edit(foos+"foo", "spec", wants("two"))
	s.sends("Reconciler: a Foo is renamed", "GET foos/foo", "POST deployments", "GET foos/foo", "GET deployments/two", "DELETE deployments/one", "PUT foos/foo/status")
	s.edit(projects+"project", "spec", replicas(4))
	p.prints("handler of Projects", "changed  Project default/project: replicas 4")
	s.Delete(projects+"project", "")
	p.prints("handler of Projects", "deleted  Project default/project: it is gone")

	s.eventually("events.Start: the Events", func() error {
		var events []string
		for _, e := range s.List("events") {
			events = append(events, fmt.Sprint(e.Object["reportingController"], " ", e.Object["reason"]))
		}
		slices.Sort(events)
		return differ(events, "[byhand Created byhand Created byhand Deleted]")
	})
	if strings.Contains(p.output(), "/events") {
		t.Error("events.Start, observe.Requests: the requests for Events are in the log")
	}
	p.serves("election.Healthy", "/healthz?verbose", `\+]leader-election ok`)
	p.serves("metrics", "/metrics", `informer_store_objects{group="apps",resource="deployments"} 2`, `controller_runtime_max_concurrent_reconciles{controller="foo"} 16`,
		`controller_runtime_reconcile_total{controller="foo",result="success"} [1-9]`, `workqueue_adds_total{name="foo"} [1-9]`)
	p.serves("without --pprof", "/debug/pprof/", "404")

	// The servers end after the workers, and the workers after their running reconciles.
	posts := s.holdPosts()
	s.add(foos+"last", wants("last"))
	post := receive(s, "a worker sends nothing", posts)
	p.cancel()
	s.eventually("informers: they stop with the context", func() error { return differ(s.watches.Load(), "0") })
	p.serves("observe.Stop: before the workers have stopped", "/healthz", "ok")
	close(post)
	p.ends(nil)
	if !strings.HasSuffix(p.output(), "stopped: all workers have finished\n") {
		t.Error("lead, observe.Close: run has returned without its last log line")
	}
	s.sends("lead: a running reconcile finishes", "POST deployments", "PUT foos/last/status")
	p.serves("observe.Stop: after run has returned", "/healthz", "connection refused")
}

// TestSync delays the first list of each informer that WaitForSync waits for. The program is not ready,
// starts no worker, and ends with its context.
func TestSync(t *testing.T) {
	for resource, group := range map[string]string{"foos": "samplecontroller.k8s.io", "deployments": "apps"} {
		t.Run(resource, func(t *testing.T) {
			s := newServer(t)
			s.addAll()
			s.HoldWatches(resource)
			p := s.start("--trace=json", "--leader-elect")
			p.serves("informers", "/readyz", `-]informer/`+resource+`\.`+group+` failed`, `\+]informer`)
			p.prints("handler of Projects", `"part":"store","what":"added","kind":"Project"`)
			// If WaitForSync does not wait for resource, it returns before this event.
			s.edit(projects+"project", "spec", replicas(2))
			p.prints("handler of Projects", `"part":"store","what":"updated"`)
			p.prints("EnqueueOwner, AddLowPriority: the initial list adds a key", `"part":"queue".*"text":"low priority"`)
			if strings.Contains(p.output(), `"what":"synced"`) {
				t.Errorf("WaitForSync: it does not wait for %s", resource)
			}
			p.cancel()
			p.ends(context.Canceled)
			s.sends("WaitForSync: nothing before it returns")
			if now := holder(s.Get(lease)); now != "" {
				t.Errorf("lead: it has returned, and the Lease names %q", now)
			}
		})
	}
}

func TestRights(t *testing.T) {
	lost := func(resource string) func(r *http.Request) *apierrors.StatusError {
		return func(r *http.Request) *apierrors.StatusError {
			if path.Base(r.URL.Path) != resource {
				return nil
			}
			return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no permission"))
		}
	}
	s := newServer(t)
	s.addAll()
	s.Refuse(lost("deployments"))
	syncTimeout = time.Second
	p := s.start("--leader-elect")
	receive(s, "WaitForSync: an informer without permissions does not end it", p.ended)
	syncTimeout = time.Minute
	if p.err == nil || !strings.Contains(p.err.Error(), "deployments.apps: ") || !strings.Contains(p.err.Error(), "no permission") {
		t.Errorf("lead: run returns %v, want an error that names the resource", p.err)
	}
	if now := holder(s.Get(lease)); now != "" {
		t.Errorf("lead: it has returned, and the Lease names %q", now)
	}

	// Nothing acts on Projects.
	s.Refuse(lost("projects"))
	p = s.start("--trace=json")
	s.sends("WaitForSync: it does not wait for Projects", "PUT foos/foo/status")
	p.serves("observe.Serve", "/readyz", "^ok$")
	p.serves("metrics", "/metrics", `informer_ready{group="examples-gzh.com",resource="projects"} 0`)

	p.cancel()
	p.ends(nil)
}

// TestNoProjects starts on an API server that does not serve Projects.
func TestNoProjects(t *testing.T) {
	s := newServer(t)
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		missing := strings.HasPrefix(r.URL.Path, "/apis/examples-gzh.com/")
		if missing {
			http.NotFound(w, r)
		}
		return missing
	})
	p := s.start()
	p.prints("connect.CheckGroup", "continuing without Projects: .* does not serve examples-gzh.com/v1alpha1: .*kubectl apply -f config/crd")
	s.add(foos+"foo", wants("one"))
	s.sends("Reconciler", "POST deployments", "PUT foos/foo/status")
	p.serves("observe.Serve", "/readyz", "^ok$")
	p.cancel()
	p.ends(nil)
}

func TestFlags(t *testing.T) {
	s := newServer(t)
	s.addAll()
	s.AddNamespace("other")
	for _, path := range []string{projects + "project", foos + "foo", deployments + "one"} {
		s.Add(strings.Replace(path, "/default/", "/other/", 1), s.Get(path).DeepCopy())
	}
	p := s.start("--namespace", "default", "--resync", "50ms", "--trace=json", "--pprof")
	if got := p.prints("WaitForSync", `in memory: ([^"]*)`); got != "1 foos.samplecontroller.k8s.io, 2 deployments.apps" {
		t.Errorf("--namespace: the stores have %s, want one namespace's", got)
	}
	p.serves("--pprof", "/debug/pprof/", "goroutine")
	for _, kind := range []string{"Project", "Foo", "Deployment"} {
		p.prints("observe.Requests of "+kind, `"part":"stream","what":"received","kind":"`+kind)
		p.prints("observe.Informers, "+kind, `"part":"store","what":"added","kind":"`+kind)
	}
	for _, kind := range []string{"Project", "Foo"} {
		p.prints("--resync of "+kind, `"part":"store","what":"resync","kind":"`+kind)
	}
	p.prints("observe.Queue", `"part":"worker","what":"got","kind":"Foo"`)
	p.prints("observe.Reconcile", `"part":"reconcile","what":"ended","kind":"Foo"`)
	p.cancel()
	p.ends(nil)
	for _, key := range regexp.MustCompile(`"part":"reconcile".*?"key":"([^"]*)"`).FindAllStringSubmatch(p.output(), -1) {
		if key[1] != "default/foo" {
			t.Errorf("handlers: one of them adds %s, which is no Foo's key", key[1])
		}
	}
}

// TestLimits sets the flags for concurrency and request rates, and reads the page.
func TestLimits(t *testing.T) {
	s := newServer(t)
	// Three requests before the informers start, and two POSTs. A watch is not limited.
	p := s.start("--workers", "2", "--kube-api-qps", "0.001", "--kube-api-burst", "5", "--page", "127.0.0.1:0")
	stream, err := client.Get(p.prints("--page", "a page to watch it on: (http://[0-9.:]+/)") + "steps")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	posts := s.holdPosts()
	for _, name := range []string{"a", "b", "c"} {
		s.add(foos+name, wants(name))
	}
	p.serves("--workers", "/metrics", `active_workers{controller="foo"} 2`, `workqueue_depth{name="foo"} 1`)
	close(receive(s, "a worker sends nothing", posts))
	close(receive(s, "a worker sends nothing", posts))
	p.serves("--kube-api-qps", "/metrics", `controller_runtime_reconcile_errors_total{controller="foo"} [1-9]`)
	s.eventually("events.Start: Events have a separate limit", func() error { return differ(len(s.List("events")), "2") })
	p.cancel()
	p.ends(nil)
	if shown, _ := io.ReadAll(stream.Body); !strings.Contains(string(shown), `"what":"stopped"`) {
		t.Errorf("observe.Serve, observe.Stop, observe.Close: the page does not show the last step, after %d bytes", len(shown))
	}
}

func TestLeader(t *testing.T) {
	s := newServer(t)
	elect := []string{"--trace=json", "--leader-elect", "--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=1s", "--leader-elect-retry-period=20ms"}
	heldBy := func(holder string) map[string]any {
		return map[string]any{"holderIdentity": holder, "leaseDurationSeconds": int64(3600)}
	}
	// A process that has not read the Lease is not ready. A process that waits for the Lease is ready.
	s.Refuse(func(r *http.Request) *apierrors.StatusError {
		if r.URL.Path != lease {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no permission"))
	})
	s.add(lease, heldBy("another"))
	s.add(foos+"foo", wants("one"))
	first := s.start(elect...)
	first.serves("election.Joined", "/readyz", `-]leader-election failed: the Lease home/byhand`)
	s.Refuse(nil)
	first.prints("election.Run", "standing by: another is the leader")
	first.serves("observe.Serve: while it waits for the Lease", "/readyz", "^ok$")
	for _, r := range s.APIServer.Log() {
		if r.Target.Resource != "" && r.Target.Resource != "leases" {
			t.Errorf("election.Run, informers: while another process leads it sends %s %s", r.Method, r.Path)
		}
	}
	s.edit(lease, "spec", heldBy(""))
	s.sends("election.Run: it leads", "POST deployments", "PUT foos/foo/status")
	leads := holder(s.Get(lease))
	second, third := s.start(elect...), s.start(elect...)
	second.prints("leader.New", "standing by: "+leads)
	third.prints("leader.New", "standing by: "+leads)
	third.cancel()
	third.ends(nil)

	// A leader releases the Lease after its last worker has stopped. The others do not change the Lease.
	posts := s.holdPosts()
	s.add(foos+"slow", wants("slow"))
	post := receive(s, "a worker sends nothing", posts)
	first.cancel()
	s.eventually("informers: they stop with the context", func() error { return differ(s.watches.Load(), "0") })
	close(post)
	first.ends(nil)
	s.sends("lead: a running reconcile finishes", "POST deployments", "PUT foos/slow/status")
	second.prints("election.Run", "workers start")
	var got []string
	for _, c := range s.History() {
		switch {
		case c.Path == lease && (c.Before == nil || holder(c.Before) != holder(c.Object)):
			got = append(got, "held by "+holder(c.Object))
		case c.Path == foos+"slow" && c.Before != nil && c.Before.Object["status"] == nil:
			got = append(got, "the last write")
		}
	}
	want := fmt.Sprintf("[held by another held by  held by %s the last write held by  held by %s]", leads, holder(s.Get(lease)))
	if err := differ(got, want); err != nil {
		t.Errorf("election.Run: %v", err)
	}

	s.Intercept(nil)
	s.add(foos+"other", wants("other"))
	s.sends("election.Run: the next leader works", "POST deployments", "PUT foos/other/status")

	// When the leader sees that it has lost the Lease, it starts no reconcile, and exits.
	reads := func() (n int) {
		for _, r := range s.APIServer.Log() {
			if r.Method == http.MethodGet && r.Path == lease {
				n++
			}
		}
		return n
	}
	s.edit(lease, "spec", heldBy("thief"))
	before := reads()
	s.eventually("election.Run: it renews", func() error { return differ(reads() > before+1, "true") })
	s.add(foos+"late", wants("late"))
	second.ends(leader.ErrLost)
	s.sends("election.OnlyWhileLeading")
	if strings.Contains(first.output(), "/leases") {
		t.Error("leader.New, observe.Requests: the requests for the Lease are in the trace")
	}
}

// TestErrors ends run at each step before the informers start.
func TestErrors(t *testing.T) {
	// A signal while it connects.
	s, connects := newServer(t), make(chan struct{})
	s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		close(connects)
		<-r.Context().Done()
		return true
	})
	p := s.start()
	receive(s, "connect.Check: it sends no request", connects)
	p.cancel()
	p.ends(context.Canceled)

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		step    string
		flags   []string
		missing string // a path that gets 404
		want    string
	}{
		{"observe.Serve", []string{"--page", taken.Addr().String()}, "", "--page: cannot listen"},
		{"connect.Config", []string{"--kubeconfig", "/nowhere/config"}, "", "cannot read the kubeconfig"},
		{"leader.New", []string{"--leader-elect", "--leader-elect-renew-deadline=1h"}, "", "leader election: "},
		{"events.Start, newClients", []string{"--kubeconfig", kubeconfig(t, "{server: 'https://127.0.0.1:1', certificate-authority-data: AAAA}")}, "", "the kubeconfig is broken"},
		{"connect.CheckGroup of Foos", nil, "/apis/samplecontroller.k8s.io/v1alpha1", "kubectl apply -f config/crd"},
		{"observe.Serve", []string{"--listen", taken.Addr().String()}, "", "--listen: cannot listen"},
	} {
		t.Run(test.step, func(t *testing.T) {
			s := newServer(t)
			s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == test.missing {
					http.NotFound(w, r)
				}
				return r.URL.Path == test.missing
			})
			p := s.start(test.flags...)
			receive(s, test.step+": run does not return", p.ended)
			if p.err == nil || !strings.Contains(p.err.Error(), test.want) {
				t.Errorf("%s: run returns %v, want %s", test.step, p.err, test.want)
			}
			if test.step == "observe.Serve" && !strings.Contains(p.output(), "talking to http") {
				t.Error("observe.Close: run has returned without printing its earlier output")
			}
		})
	}
}

func replicas(n int64) map[string]any { return map[string]any{"replicas": n} }

func wants(deployment string) map[string]any {
	return map[string]any{"deploymentName": deployment, "replicas": int64(1)}
}

func holder(lease *unstructured.Unstructured) string {
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	return holder
}

func differ(got any, want string) error {
	if got := fmt.Sprint(got); got != want {
		return fmt.Errorf("got %s, want %s", got, want)
	}
	return nil
}

func kubeconfig(t *testing.T, cluster string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{clusters: [{name: c, cluster: %s}], contexts: [{name: x, context: {cluster: c, namespace: home}}], current-context: x}", cluster)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// server is an API server in memory behind a socket.
type server struct {
	*testing.T
	*testkit.APIServer
	url, kubeconfig string
	watches         atomic.Int64 // open watches
	sent            []string     // requests for sends
}

// newServer returns a server. The test fails if a goroutine of run still exists at its end.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{T: t, APIServer: tests.NewAPIServer()}
	s.AddNamespace("home")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			s.watches.Add(1)
			defer s.watches.Add(-1)
		}
		s.ServeHTTP(w, r)
	}))
	s.url, s.kubeconfig = front.URL, kubeconfig(t, "{server: '"+front.URL+"'}")
	t.Cleanup(func() {
		_ = front.Listener.Close() // Accept no new connections.
		front.CloseClientConnections()
		front.Close()
		s.eventually("run has returned, and this goroutine still exists", nothingLeft)
	})
	return s
}

// nothingLeft returns an error with the stack of a goroutine of run, or nil. It ignores goroutines that end
// with the process: klog's, and those of a queue whose workers never ran.
func nothingLeft() error {
	stacks := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		of := func(what string) bool { return strings.Contains(stack, what) }
		if !of("testing.") && (of("example.com/byhand") || of("k8s.io/") && !of("util/workqueue") && !of("klog")) {
			return errors.New(stack)
		}
	}
	return nil
}

func (s *server) add(url string, spec map[string]any) {
	part := strings.Split(url, "/")
	kind := map[string]string{"projects": "Project", "foos": "Foo", "deployments": "Deployment", "leases": "Lease"}[part[6]]
	s.Add(url, &unstructured.Unstructured{Object: map[string]any{"apiVersion": part[2] + "/" + part[3], "kind": kind, "spec": spec}})
}

// addAll creates a Project, a Foo, the Deployment that it wants, and one that it controls.
func (s *server) addAll() {
	s.add(projects+"project", replicas(1))
	s.add(foos+"foo", wants("one"))
	s.add(deployments+"one", replicas(1))
	s.add(deployments+"old", replicas(1))
	foo := s.Get(foos + "foo")
	owner := *metav1.NewControllerRef(foo, foo.GroupVersionKind())
	s.Edit(deployments+"old", func(d *unstructured.Unstructured) { d.SetOwnerReferences([]metav1.OwnerReference{owner}) })
}

func (s *server) edit(path, half string, value map[string]any) {
	s.Edit(path, func(object *unstructured.Unstructured) { object.Object[half] = value })
}

// holdPosts sends a channel for each request that creates a Deployment. The request continues when the
// test closes this channel. At the end of the test its connection breaks.
func (s *server) holdPosts() <-chan chan struct{} {
	posts := make(chan chan struct{}, 10)
	s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && path.Base(r.URL.Path) == "deployments" {
			released := make(chan struct{})
			posts <- released
			select {
			case <-released:
			case <-s.T.Context().Done():
				panic(http.ErrAbortHandler)
			}
		}
		return false
	})
	return posts
}

func (s *server) eventually(what string, condition func() error) {
	s.Helper()
	var err error
	for end := time.Now().Add(deadline); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	s.Fatalf("%s: %v", what, err)
}

func receive[T any](s *server, otherwise string, from <-chan T) (next T) {
	s.Helper()
	select {
	case next = <-from:
	case <-time.After(deadline):
		s.Fatal(otherwise)
	}
	return next
}

// sends waits until the requests since the last call are want. It ignores lists, watches, and requests for
// Events and the Lease.
func (s *server) sends(what string, want ...string) {
	s.Helper()
	s.eventually(what, func() error {
		s.sent = append(s.sent, slices.DeleteFunc(s.Requests(), func(request string) bool {
			return strings.HasSuffix(request, " events") || strings.Contains(request, " leases")
		})...)
		return differ(s.sent, fmt.Sprint(want))
	})
	s.sent = nil
}

// program is one call of run.
type program struct {
	*server
	cancel context.CancelFunc // what a signal does
	ended  chan struct{}
	err    error // of run, when ended is closed

	mu     sync.Mutex
	stdout bytes.Buffer
}

func (s *server) start(args ...string) *program {
	s.Helper()
	o, err := app.ParseFlags(append([]string{"--kubeconfig", s.kubeconfig}, args...))
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(quiet.Context(s.T))
	p := &program{server: s, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = run(ctx, o, p)
	}()
	s.Cleanup(func() {
		cancel()
		receive(s, "run does not return", p.ended)
		if s.Failed() {
			s.T.Logf("stdout of run:\n%s", p.output())
		}
	})
	return p
}

func (p *program) ends(want error) {
	p.Helper()
	receive(p.server, "run does not return", p.ended)
	if !errors.Is(p.err, want) {
		p.Errorf("run returns %v, want %v", p.err, want)
	}
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stdout.Write(b)
}

func (p *program) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stdout.String()
}

// prints waits until the output matches, and returns the last group of the pattern.
func (p *program) prints(what, pattern string) string {
	p.Helper()
	var found []string
	p.eventually(what, func() error {
		if found = regexp.MustCompile(pattern).FindStringSubmatch(p.output()); found == nil {
			return fmt.Errorf("stdout has no %q", pattern)
		}
		return nil
	})
	return found[len(found)-1]
}

// serves waits until the response of the program's server, or the error of the request, matches all patterns.
func (p *program) serves(what, path string, patterns ...string) {
	p.Helper()
	url := p.prints("observe.Serve", "health and metrics at (http://[0-9.:]+)") + path
	for _, pattern := range patterns {
		p.eventually(what+": GET "+path, func() error {
			answer, err := client.Get(url)
			text := fmt.Appendln(nil, err)
			if err == nil {
				text, _ = io.ReadAll(answer.Body)
				answer.Body.Close()
			}
			if !regexp.MustCompile(pattern).Match(text) {
				return fmt.Errorf("nothing matches %s in\n%s", pattern, text)
			}
			return nil
		})
	}
}
