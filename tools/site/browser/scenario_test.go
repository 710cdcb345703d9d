//go:build page

package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/byhand/internal/observe/trace"
)

// script is a History with the steps of a test.
type script struct {
	*trace.History
	mu    sync.Mutex
	kept  []trace.Step
	seq   int64
	clock time.Time
}

func newScript() *script { return &script{History: trace.Replay(), clock: time.Now()} }

// add numbers the steps and sends them, with time stamps a millisecond apart.
func (s *script) add(steps ...trace.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps = slices.Clone(steps)
	for i := range steps {
		s.seq++
		s.clock = s.clock.Add(time.Millisecond)
		steps[i].Seq, steps[i].Time = s.seq, s.clock
		s.Add(&steps[i])
	}
	s.kept = append(s.kept, steps...)
}

// lose skips numbers, as if steps had been dropped.
func (s *script) lose(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq += n
}

// foo has the fields of a Foo that a scenario needs.
type foo struct {
	namespace, name, deployment string
	replicas, available         int
	version                     int
	labels                      map[string]string
}

func (f *foo) key() string { return f.namespace + "/" + f.name }

func encode(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps and strings alone
	}
	return data
}

func (f *foo) object() json.RawMessage {
	return encode(map[string]any{
		"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
		"metadata": map[string]any{"namespace": f.namespace, "name": f.name, "uid": "foo-" + f.name, "resourceVersion": fmt.Sprint(f.version), "labels": f.labels},
		"spec":     map[string]any{"deploymentName": f.deployment, "replicas": f.replicas},
		"status":   map[string]any{"availableReplicas": f.available},
	})
}

func (f *foo) child() json.RawMessage {
	return encode(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": f.namespace, "name": f.deployment, "uid": "deployment-" + f.deployment, "resourceVersion": fmt.Sprint(f.version)},
		"spec":     map[string]any{"replicas": f.replicas, "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "nginx", "image": "nginx:latest"}}}}},
		"status":   map[string]any{"availableReplicas": f.available},
	})
}

const (
	foosPath        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/%s/foos"
	deploymentsPath = "/apis/apps/v1/namespaces/%s/deployments"
)

// event returns the steps of a change from the API server to the queue. what is added, updated or deleted.
func (f *foo) event(kind, what string, echo bool) []trace.Step {
	f.version++
	key, object, handler := f.key(), f.object(), "EnqueueObject"
	if kind == "Deployment" {
		key, object, handler = f.namespace+"/"+f.deployment, f.child(), "EnqueueOwner"
	}
	word := map[string]string{"added": "ADDED", "updated": "MODIFIED", "deleted": "DELETED"}[what]
	step := trace.Step{Kind: kind, Key: key, For: "Foo " + f.key(), Version: fmt.Sprint(f.version), Echo: echo}
	stream, store, queue := step, step, step
	stream.Part, stream.What, stream.Text = trace.PartStream, "received", word
	stream.Request = &trace.Request{Method: "GET", Path: "/apis/watch"}
	store.Part, store.What, store.Text, store.Object = trace.PartStore, what, "wants Deployment "+f.deployment, object
	store.File, store.Func = "controller/handlers.go", handler
	queue.Part, queue.What, queue.Kind, queue.Key, queue.Depth = trace.PartQueue, "added", "Foo", f.key(), 1
	queue.Cause = fmt.Sprintf("%s %s was %s", kind, key, what)
	queue.Echo, queue.Version = false, ""
	return []trace.Step{stream, store, queue}
}

// reconcile returns the steps of a key from the queue to the end of its reconcile, with the requests in
// between.
func (f *foo) reconcile(decision string, requests ...trace.Step) []trace.Step {
	step := trace.Step{Kind: "Foo", Key: f.key(), For: "Foo " + f.key(), File: "controller/foo/reconcile.go", Func: "Reconciler.Reconcile"}
	got, started, ended, done := step, step, step, step
	got.Part, got.What, got.File, got.Func = trace.PartWorker, "got", "controller/controller.go", "Controller.runWorker"
	started.Part, started.What, started.Cause = trace.PartReconcile, "started", "a change of "+f.key()
	ended.Part, ended.What, ended.Text, ended.Took = trace.PartReconcile, "ended", decision, 4*time.Millisecond
	done.Part, done.What = trace.PartWorker, "done"
	return append(append([]trace.Step{got, started}, requests...), ended, done)
}

// request returns the steps of a request and its response.
func (f *foo) request(method, kind string, status int) []trace.Step {
	key, path := f.key(), fmt.Sprintf(foosPath, f.namespace)+"/"+f.name+"/status"
	body := f.object()
	if kind == "Deployment" {
		key, path, body = f.namespace+"/"+f.deployment, fmt.Sprintf(deploymentsPath, f.namespace), f.child()
		if method != "POST" {
			path += "/" + f.deployment
		}
	}
	step := trace.Step{Part: trace.PartRequest, Kind: kind, Key: key, For: "Foo " + f.key(), File: "controller/foo/deployment.go", Func: "Reconciler.updateDeployment"}
	sent, answered := step, step
	sent.What, sent.Request = "sent", &trace.Request{Method: method, Path: path, Body: string(body)}
	answered.What, answered.Took = "answered", 3*time.Millisecond
	answered.Request = &trace.Request{Method: method, Path: path, Status: status, Bytes: int64(len(body)), Reply: string(body)}
	if status == 409 {
		answered.Text = "the object has been modified; please apply your changes to the latest version and try again"
		answered.Request.Reply = `{"kind":"Status","status":"Failure","reason":"Conflict","code":409}`
	}
	return []trace.Step{sent, answered}
}

// born returns all steps of a new Foo: it arrives, and gets its Deployment and its status.
func (f *foo) born() []trace.Step {
	steps := f.event("Foo", "added", false)
	writes := append(f.request("POST", "Deployment", 201), f.request("PUT", "Foo", 200)...)
	steps = append(steps, f.reconcile("created Deployment "+f.deployment, writes...)...)
	steps = append(steps, f.event("Deployment", "added", true)...)
	steps = append(steps, f.event("Foo", "updated", true)...)
	return append(steps, f.reconcile("nothing differs")...)
}

func (f *foo) scale(replicas int) []trace.Step {
	f.replicas = replicas
	steps := f.event("Foo", "updated", false)
	steps = append(steps, f.reconcile("scaled its Deployment", f.request("PUT", "Deployment", 200)...)...)
	return append(steps, f.event("Deployment", "updated", true)...)
}

func (f *foo) rename(to string) []trace.Step {
	f.deployment = to
	return f.event("Foo", "updated", false)
}

func (f *foo) conflict() []trace.Step {
	steps := f.event("Deployment", "updated", false)
	steps = append(steps, f.reconcile("rejected: another client was first", f.request("PUT", "Deployment", 409)...)...)
	later := trace.Step{Part: trace.PartQueue, What: "limited", Kind: "Foo", Key: f.key(), For: "Foo " + f.key(), Text: "try 1 again in 5ms", Depth: 0}
	return append(steps, later)
}

func (f *foo) deleted() []trace.Step {
	return append(f.event("Foo", "deleted", false), f.reconcile("no such Foo: nothing to do")...)
}

func example() *foo {
	return &foo{namespace: "default", name: "example-foo", deployment: "example-foo", replicas: 1, version: 100}
}
