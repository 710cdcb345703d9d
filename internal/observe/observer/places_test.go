package observer

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
	reconciler "example.com/byhand/controller/foo"
	"example.com/byhand/informer"
)

// A step's place is the innermost function of this repository's controller code, also inside a closure.
func TestPlaces(t *testing.T) {
	r, api, client, kube := served(t)
	api.Intercept(func(w http.ResponseWriter, request *http.Request) bool {
		refused := request.URL.Query().Has("watch") || request.Method != http.MethodGet
		if refused {
			w.WriteHeader(http.StatusTeapot)
		}
		return refused
	})
	queue := r.Queue(fooKind, controller.NewQueue(""))
	foos := informer.NewFoos(client, "", 0, r.handler(fooKind, controller.EnqueueObject(queue)))
	reconciler := &reconciler.Reconciler{Deployments: kube.AppsV1(), FooStore: foos.Store,
		DeploymentStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers()), Events: &events.FakeRecorder{}, Rewrites: controller.NewRewrites()}
	workers := controller.New(queue, r.Reconcile(fooKind, reconciler).Reconcile)
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), klog.New(nil)), 10*time.Second)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { foos.Run(ctx) })
	running.Go(func() { workers.Run(ctx, 1) })
	seen := map[string]place{}
	for read := int64(0); seen["queue limited"].file == "" && ctx.Err() == nil; {
		for _, step := range r.Read(ctx, read) {
			read = step.Seq
			name := string(step.Part) + " " + step.What
			if _, ok := seen[name]; !ok {
				seen[name] = place{step.File, step.Func}
			}
		}
	}
	cancel()
	running.Wait()
	for step, want := range map[string]place{
		"stream listed":     {"informer/foo.go", "NewFoos"},
		"store added":       {"informer/foo.go", "NewFoos"},
		"queue added":       {"controller/handlers.go", "EnqueueObject"},
		"worker got":        {"controller/controller.go", "Controller.runWorker"},
		"reconcile started": {"controller/foo/reconcile.go", "Reconciler.Reconcile"},
		"request sent":      {"controller/foo/deployment.go", "Reconciler.createDeployment"},
		"queue limited":     {"controller/controller.go", "Controller.process"},
	} {
		if seen[step] != want {
			t.Errorf("%s is in %v, want %v", step, seen[step], want)
		}
	}
}
