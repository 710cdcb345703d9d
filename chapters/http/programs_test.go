package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"example.com/byhand/clientset"
	core "example.com/byhand/controller"
	"example.com/byhand/controller/foo"
	"example.com/byhand/informer"
	"example.com/byhand/kit/testkit"
)

// Two programs that the tests compare, each with one worker.

// byHTTP is this chapter's program.
type byHTTP struct {
	*controller
	ended time.Time // zero while it runs
	err   error     // why it ended
}

func startByHTTP(ctx context.Context, t *testing.T, s *server) *byHTTP {
	client := &http.Client{Transport: testkit.Transport{Handler: s}}
	p := &byHTTP{controller: newController("http://api.test", s.token(), client, "", t.Output())}
	go func() {
		p.err = p.run(ctx)
		p.log.Print("http: ", p.err)
		p.ended = time.Now()
	}()
	return p
}

// byCore is built from the core's parts.
type byCore struct {
	foos       *informer.Informer
	reconciled map[string]int // count by key
}

func startByCore(ctx context.Context, _ *testing.T, s *server) *byCore {
	config := &rest.Config{Host: "http://api.test", BearerTokenFile: s.tokenFile, QPS: -1, Transport: testkit.Transport{Handler: s}}
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)

	p := &byCore{reconciled: map[string]int{}}
	queue := core.NewQueue("")
	var deployments *informer.Informer
	p.foos, deployments = foo.NewInformers(client, kube, "", 0, queue)
	reconciler := &foo.Reconciler{
		Foos:            client.SamplecontrollerV1alpha1(),
		Deployments:     kube.AppsV1(),
		FooStore:        p.foos.Store,
		DeploymentStore: deployments.Store,
		Events:          &events.FakeRecorder{},
		Rewrites:        core.NewRewrites(),
	}
	ctx = klog.NewContext(ctx, klog.New(nil))
	go p.foos.Run(ctx)
	go deployments.Run(ctx)
	go func() {
		defer queue.ShutDown()
		if informer.WaitForSync(ctx, time.Hour, p.foos, deployments) == nil {
			core.New(queue, func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
				p.reconciled[key.String()]++
				return reconciler.Reconcile(ctx, key)
			}).Run(ctx, 1)
		}
	}()
	return p
}

func init() {
	// The default handlers log, and wait between errors in quick succession. In the next
	// bubble the clock starts in 2000 again: there they would wait for years.
	utilruntime.ErrorHandlers = nil
}
