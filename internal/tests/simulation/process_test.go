package simulation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/testkit"
)

// process is one run of the program. Its clients send requests through it.
type process struct {
	*sequence
	name       string
	ctx        context.Context
	kill       context.CancelFunc // After it no request and no response passes.
	reconciler *foo.Reconciler
}

// startProcess starts a process, as main.go does, instead of the current one.
func (s *sequence) startProcess() {
	if s.process != nil {
		s.process.kill()
		synctest.Wait()
	}
	s.processes++
	p := &process{sequence: s, name: fmt.Sprint("process ", s.processes)}
	p.ctx, p.kill = context.WithCancel(quiet.Context(s.T))
	s.process = p
	config := s.api.Config()
	config.Transport = p
	config.ContentType = runtime.ContentTypeJSON // which the rules can read
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	queue := controller.NewQueue("foos")
	foos, deployments := foo.NewInformers(client, kube, "", 0, queue)
	p.reconciler = &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        foos.Store,
		DeploymentStore: deployments.Store,
		Events:          &events.FakeRecorder{},
		Rewrites:        controller.NewRewrites(),
	}
	go foos.Run(p.ctx)
	go deployments.Run(p.ctx)
	go func() {
		defer queue.ShutDown()
		if informer.WaitForSync(p.ctx, time.Hour, foos, deployments) == nil {
			controller.New(queue, p.reconcile).Run(p.ctx, 6)
		}
	}()
	s.note("test", "%s starts", p.name)
}

// takeOver replaces the process. The new process does not remember the old one's writes.
func (s *sequence) takeOver() bool {
	if s.takeovers {
		s.startProcess()
	}
	return s.takeovers
}

type workerKey struct{}

// worker is a running reconcile.
type worker struct {
	*process
	key  cache.ObjectName
	seen seen
}

// reconcile waits for its turn, calls the controller's Reconcile, and checks that it changes no object of the stores.
func (p *process) reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	if err := p.passes(ctx, "%s: reconcile %s", p.name, key); err != nil {
		return 0, err
	}
	w := &worker{process: p, key: key, seen: p.sees(key)}
	stored := []any{w.seen.foo, w.seen.named, w.seen.owned}
	before := text(stored)
	defer func() {
		if reason := recover(); reason != nil {
			p.breaks("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	requeueAfter, err = p.reconciler.Reconcile(context.WithValue(ctx, workerKey{}, w), key)
	if after := text(stored); after != before {
		p.breaks("an object of a store was changed\nbefore %s\nafter  %s", before, after)
	}
	if ctx.Err() == nil && p.ctx.Err() == nil { // After a kill several reconciles may end at once, in any order.
		p.note(p.name, "%s: requeue after %v, %v", key, requeueAfter, err)
	}
	return requeueAfter, err
}

var errLost = errors.New("the connection broke, the response is lost")

// passes waits for a turn of this process.
func (p *process) passes(ctx context.Context, format string, args ...any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if p.wait(ctx.Done(), fmt.Sprintf(format, args...)) {
		return nil
	}
	return ctx.Err()
}

// RoundTrip sends a request. A reconcile's request waits on its way to the API server, and the response on its way
// back. The informers' events wait on their way back.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	w, isReconcile := r.Context().Value(workerKey{}).(*worker)
	if !isReconcile {
		return p.watch(r)
	}
	x := w.read(r)
	if err := p.passes(r.Context(), "%s: %s for %s", p.name, x.operation(), w.key); err != nil {
		return nil, err
	}
	response, lost := w.send(r, x)
	if err := p.passes(r.Context(), "%s: response of %s for %s", p.name, x.operation(), w.key); err != nil {
		return nil, err
	}
	if lost {
		return nil, errLost
	}
	w.receive(x)
	return response, nil
}

// watch opens a watch whose events wait for their turns.
func (p *process) watch(r *http.Request) (*http.Response, error) {
	response, err := testkit.Transport{Handler: p.api}.RoundTrip(r)
	if err == nil {
		resource := testkit.TargetOf(r.URL.Path).Resource
		response.Body = &watchBody{Closer: response.Body, lines: bufio.NewReader(response.Body),
			passes: func() error { return p.passes(r.Context(), "watch of %s", resource) }}
	}
	return response, err
}

// watchBody delivers a line, which is an event, when passes returns.
type watchBody struct {
	io.Closer
	lines  *bufio.Reader
	passes func() error
	line   []byte // the rest of the current line
}

func (b *watchBody) Read(into []byte) (n int, err error) {
	if len(b.line) == 0 {
		if b.line, err = b.lines.ReadBytes('\n'); err == nil {
			err = b.passes()
		}
		if err != nil {
			return 0, err
		}
	}
	n = copy(into, b.line)
	b.line = b.line[n:]
	return n, nil
}
