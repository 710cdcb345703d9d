//go:build integration || bare || long

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// lab is the controller inside the test, on the real API server: its informers
// run, but nothing is reconciled until the test says so. The test can observe, hold and
// break the connection between it and the server.
type lab struct {
	*server
	line              *line
	foos, deployments *informer.Informer
	queue             controller.PriorityQueue
	reconciler        *controller.FooReconciler
	events            *record.FakeRecorder
}

// newLab starts the informers over the test's namespace and waits for them.
// Handlers hear of everything again after resync, never if that is 0.
func newLab(s *server, resync time.Duration) *lab {
	s.Helper()
	l := &lab{server: s, line: newLine(), queue: controller.NewPriorityQueue(""), events: record.NewFakeRecorder(100_000)}
	config := rest.CopyConfig(s.config)
	config.Wrap(l.line.wrap)
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	l.foos = informer.NewFoos(client, s.namespace, resync, controller.WithLowPriorityWhenUnchanged(controller.EnqueueObject)(l.queue))
	l.deployments = informer.NewDeployments(kube, s.namespace, resync, controller.WithLowPriorityWhenUnchanged(
		controller.EnqueueOwner(v1alpha1.Kind("Foo"), informer.FoosNaming(l.foos.Store)))(l.queue))
	l.reconciler = &controller.FooReconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        l.foos.Store,
		DeploymentStore: l.deployments.Store,
		Events:          l.events,
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, i := range []*informer.Informer{l.foos, l.deployments} {
		running.Go(func() { i.Run(ctx) })
	}
	s.Cleanup(func() {
		cancel()
		l.line.release()
		running.Wait()
	})
	if err := informer.WaitForSync(ctx, deadline, l.foos, l.deployments); err != nil {
		s.Fatal(err)
	}
	return l
}

// work runs the controller until the returned function is called.
func (l *lab) work(workers int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		controller.New(l.queue, l.reconciler.Reconcile).Run(ctx, workers)
	}()
	stop = func() {
		cancel()
		<-done
	}
	l.Cleanup(stop)
	return stop
}

// reconcile reconciles one Foo, which must not fail.
func (l *lab) reconcile(name string) (again time.Duration) {
	l.Helper()
	again, err := l.reconciler.Reconcile(l.Context(), cache.NewObjectName(l.namespace, name))
	if err != nil {
		l.Fatalf("reconcile %s: %v", name, err)
	}
	return again
}

// shows waits until a store has an object of this version, or a newer one.
func (l *lab) shows(i *informer.Informer, name, version string) {
	l.Helper()
	l.eventually(fmt.Sprintf("the store of %s shows version %s of %s", i.Resource, version, name), func() error {
		order, err := resourceversion.CompareResourceVersion(i.Store.LastStoreSyncResourceVersion(), version)
		if err == nil && order < 0 {
			err = errors.New("it is behind")
		}
		return err
	})
}

// line is a transport that a test observes and disturbs.
type line struct {
	mu sync.Mutex
	// sent holds "METHOD resource[/name[/subresource]]" of each request that is no
	// list and no watch.
	sent []string
	// held are the resources whose watches deliver nothing.
	held  map[string]bool
	moved sync.Cond
	// streams are the watches that are open.
	streams map[*heldBody]bool
	// fault, if set, is asked before each request. It may answer in the server's
	// place, or return nil, nil to let the request pass.
	fault func(request *http.Request, next http.RoundTripper) (*http.Response, error)
}

func newLine() *line {
	l := &line{held: map[string]bool{}, streams: map[*heldBody]bool{}}
	l.moved.L = &l.mu
	return l
}

// requests returns what was sent since the last call.
func (l *line) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := l.sent
	l.sent = nil
	return sent
}

// hold keeps back what the watches of these resources would deliver from now on.
func (l *line) hold(resources ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, resource := range resources {
		l.held[resource] = true
	}
}

// release delivers what was held, of these resources or of all.
func (l *line) release(resources ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resources == nil {
		clear(l.held)
	}
	for _, resource := range resources {
		delete(l.held, resource)
	}
	l.moved.Broadcast()
}

// disturb sets the fault.
func (l *line) disturb(fault func(*http.Request, http.RoundTripper) (*http.Response, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

// hangUp ends every watch that is open.
func (l *line) hangUp() {
	l.mu.Lock()
	open := l.streams
	l.streams = map[*heldBody]bool{}
	l.mu.Unlock()
	for stream := range open {
		_ = stream.ReadCloser.Close()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (l *line) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		// /apis/{group}/{version}/namespaces/{namespace}/{resource}[/{name}[/{subresource}]]
		parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
		if len(parts) < 6 {
			return next.RoundTrip(request)
		}
		l.mu.Lock()
		if request.Method != http.MethodGet || len(parts) > 6 {
			l.sent = append(l.sent, request.Method+" "+strings.Join(parts[5:], "/"))
		}
		fault := l.fault
		l.mu.Unlock()
		if fault != nil {
			if response, err := fault(request, next); response != nil || err != nil {
				return response, err
			}
		}
		response, err := next.RoundTrip(request)
		if err == nil && request.URL.Query().Get("watch") != "" {
			body := &heldBody{ReadCloser: response.Body, line: l, resource: parts[5]}
			l.mu.Lock()
			l.streams[body] = true
			l.mu.Unlock()
			response.Body = body
		}
		return response, err
	})
}

// heldBody is the stream of a watch.
type heldBody struct {
	io.ReadCloser
	line     *line
	resource string
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.line.mu.Lock()
	defer b.line.mu.Unlock()
	for b.line.held[b.resource] && err == nil {
		b.line.moved.Wait()
	}
	return n, err
}

func (b *heldBody) Close() error {
	b.line.mu.Lock()
	delete(b.line.streams, b)
	b.line.mu.Unlock()
	return b.ReadCloser.Close()
}
