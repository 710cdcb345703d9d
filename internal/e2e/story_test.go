//go:build bare

package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/internal/kinds"
	"example.com/byhand/internal/metrics"
	"example.com/byhand/internal/observer"
)

// TestStoryCost measures what the program's default output costs: cold starts with the
// story and the metrics as main wires them, each beside one without the observer, on
// etcd and kube-apiserver alone. It fails on no time.
func TestStoryCost(t *testing.T) {
	var times, shares []float64
	for round := range *rounds {
		var took, used [2]time.Duration
		// Each is first every second time.
		for _, observed := range []int{round % 2, 1 - round%2} {
			took[observed], used[observed] = observedColdStart(t, observed == 1)
		}
		times = append(times, took[1].Seconds()/took[0].Seconds())
		shares = append(shares, (used[1]-used[0]).Seconds()/took[0].Seconds()/float64(runtime.NumCPU()))
		t.Logf("round %d: %s without the observer, %s with it; %s and %s on the CPUs", round+1,
			took[0].Round(time.Millisecond), took[1].Round(time.Millisecond), used[0].Round(time.Millisecond), used[1].Round(time.Millisecond))
	}
	t.Logf("%d Foos, %d workers, %d CPUs, medians of %d rounds: time with it / without it %.3f (%.3f to %.3f); what it takes of the CPUs, of the time without it %.1f %%",
		*foos, *workers, runtime.NumCPU(), *rounds, median(times), slices.Min(times), slices.Max(times), 100*median(shares))
}

// observedColdStart returns the time from the start of the informers to the last status,
// with an observer or without, and how long this process was on the CPUs meanwhile.
func observedColdStart(t *testing.T, observed bool) (took, used time.Duration) {
	s := newServer(t)
	s.createFoos(*foos)
	config, queue := rest.CopyConfig(s.config), controller.NewPriorityQueue("")
	enqueueFoo := controller.WithLowPriorityWhenUnchanged(controller.EnqueueObject)
	handler := func(_ observer.Kind, queue controller.PriorityQueue, enqueue func(controller.PriorityQueue) cache.ResourceEventHandler) cache.ResourceEventHandler {
		return enqueue(queue)
	}
	reconcile := func(_ observer.Kind, r observer.Reconciler) controller.Reconcile { return r.Reconcile }
	if observed {
		out, err := os.Create(filepath.Join(t.TempDir(), "story.txt"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		observe := observer.New(observer.Options{Count: metrics.New().Step})
		defer observe.Close()
		observe.Print(observer.Flag{}, out)
		observe.Wrap(config)
		queue = observe.Queue(kinds.Foo, queue)
		handler, reconcile = observe.Handler, observe.Reconcile
	}
	client, kube := clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	listed := informer.NewFoos(client, s.namespace, 0, handler(kinds.Foo, queue, enqueueFoo))
	deployments := informer.NewDeployments(kube, s.namespace, 0, handler(kinds.Deployment, queue,
		controller.WithLowPriorityWhenUnchanged(controller.EnqueueOwner(v1alpha1.Kind("Foo"), informer.FoosNaming(listed.Store)))))
	all := controller.New(queue, reconcile(kinds.Foo, &controller.FooReconciler{
		Foos: client.SamplecontrollerV1alpha1(), Deployments: kube.AppsV1(),
		FooStore: listed.Store, DeploymentStore: deployments.Store, Events: &record.FakeRecorder{},
	}))

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	runtime.GC()
	begin, usedBefore := time.Now(), cpuTime(t)
	running.Go(func() { listed.Run(ctx) })
	running.Go(func() { deployments.Run(ctx) })
	if err := informer.WaitForSync(ctx, deadline, listed, deployments); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { all.Run(ctx, *workers) })
	s.eventually("every Foo has a status", func() error {
		for _, foo := range listed.Store.List() {
			if foo.(*v1alpha1.Foo).Status.ObservedGeneration == 0 {
				return errors.New("one has none")
			}
		}
		return nil
	})
	return time.Since(begin), cpuTime(t) - usedBefore
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
