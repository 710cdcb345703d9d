package app

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/metrics"
	"example.com/byhand/kit/serve"
)

// View shows the program to people: an observer that prints each step, and the servers of health, metrics and
// the page.
type View struct {
	*observer.Observer
	options  Options
	measured *metrics.Metrics
	ctx      context.Context // of the servers
	cancel   context.CancelFunc
	serving  sync.WaitGroup
}

// NewView returns a View that prints to stdout. Stop it.
func NewView(o Options, stdout io.Writer) *View {
	v := &View{options: o, measured: metrics.New()}
	v.Observer = observer.New(observer.Options{All: o.trace.On() || o.page != ""})
	v.Print(o.trace, stdout)
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// Stop prints the last steps, and waits for the answers that the servers have begun.
func (v *View) Stop() {
	v.Close()
	v.cancel()
	v.serving.Wait()
}

// Informers observes and measures the informers. Call it before Serve.
func (v *View) Informers(kinds []observer.Kind, informers ...*informer.Informer) {
	v.Observer.Informers(kinds, informers...)
	v.measured.Informers(informers...)
}

// Reconcile observes and measures the reconciles of a kind.
func (v *View) Reconcile(k observer.Kind, next observer.Reconciler) observer.Reconciler {
	observed := v.Observer.Reconcile(k, next)
	return reconcileFunc(v.measured.Reconcile(k.GVK.Kind, v.options.Workers, observed.Reconcile))
}

type reconcileFunc controller.Reconcile

func (f reconcileFunc) Reconcile(ctx context.Context, key cache.ObjectName) (requeueAfter time.Duration, err error) {
	return f(ctx, key)
}

// Standby prints that another process leads.
func (v *View) Standby(leader string) {
	v.Program(trace.Standby, "standing by: %s is the leader", leader)
}

// Serve starts the servers and prints their addresses. A process on standby is ready when it takes part in the
// election: otherwise a rollout would wait for a second leader. A leader is ready when the informers are.
func (v *View) Serve(election *leader.Election, informers ...*informer.Informer) error {
	ready := []serve.Check{{Name: "leader-election", Err: election.Joined}}
	for _, i := range informers {
		ready = append(ready, serve.Check{Name: "informer/" + i.Resource, Err: election.WhileLeading(i.Ready)})
	}
	health, err := serve.Listen(v.options.listen, true, serve.Health(serve.Options{
		Healthy: []serve.Check{{Name: "leader-election", Err: election.Healthy}},
		Ready:   ready,
		Metrics: v.measured.Handler(),
		Pprof:   v.options.pprof,
	}))
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	v.Program(trace.Said, "health and metrics at %s", health.URL)
	v.serving.Go(func() { _ = health.Run(v.ctx) })
	if v.options.page == "" {
		return nil
	}
	server, err := page.Listen(v.options.page, v.History, page.Options{Remote: v.options.pageRemote, Shell: shell(v.options.Connect.Kubeconfig)})
	if err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	v.Program(trace.Said, "a page to watch it on: %s", server.URL)
	v.serving.Go(func() { _ = server.Run(v.ctx) })
	return nil
}
