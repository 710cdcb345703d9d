package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"golang.org/x/perf/benchfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/compare/peers"
)

// inMemory is the line in which a program says that its caches are filled.
var inMemory = regexp.MustCompile(`in memory: |Starting workers`)

// caches says whether the cache of a peer is measured. Tuning changes neither byhand's nor
// sample-controller's.
func caches(peer peers.Peer) bool {
	return !peer.Loop && (peer.Shipped || peer.Name == "controller-runtime-tuned")
}

// cacheSync lets the peers read n Foos into memory, each between two runs of the first, round
// after round on one control plane, because none of them writes: there is nothing to reconcile.
func (b *bench) cacheSync(ctx context.Context, all []peers.Peer, n size) (err error) {
	s, err := b.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Down()) }()
	if err := s.createIdleFoos(ctx, n.foos); err != nil {
		return err
	}
	for range n.rounds {
		if err := b.pairs(ctx, "CacheSync", n.foos, all[0], all[1:], s.syncOnce(b.dir)); err != nil {
			return err
		}
	}
	return nil
}

// createIdleFoos makes n Foos on which no peer acts: they are being deleted, and a
// finalizer keeps them. sample-controller ignores that, but it skips
// a Foo that names no Deployment. Otherwise they are as a controller leaves them,
// with a status and managedFields.
func (s *server) createIdleFoos(ctx context.Context, n int) error {
	foo := newFoo(fooName(0))
	foo.Finalizers = []string{"example.com/kept"}
	client := s.client.SamplecontrollerV1alpha1().Foos(namespace)
	created, err := s.createFoo(ctx, foo)
	if err != nil {
		return err
	}
	created.Status = v1alpha1.FooStatus{Replicas: 1, AvailableReplicas: 1, ObservedGeneration: 1, Selector: "controller=" + foo.Name}
	created.Status.Conditions = []metav1.Condition{{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, ObservedGeneration: 1,
		LastTransitionTime: metav1.Now(), Reason: v1alpha1.ReasonAvailable, Message: "1 of 1 replicas are available"}}
	if _, err := client.UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update status of Foo %s: %w", foo.Name, err)
	}
	if err := client.Delete(ctx, foo.Name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete Foo %s: %w", foo.Name, err)
	}
	stored, err := s.storedAs(ctx, created)
	if err != nil {
		return err
	}
	stored.json = bytes.ReplaceAll(stored.json, fmt.Appendf(nil, `"deploymentName":%q`, foo.Name), []byte(`"deploymentName":""`))
	return s.copyFoo(ctx, stored, n)
}

// syncOnce measures from the start of a process, whose program is in a folder, until its caches
// are filled, and what it holds when it has looked at every Foo.
func (s *server) syncOnce(programs string) measurement {
	return func(ctx context.Context, peer peers.Peer, _ int) ([]benchfmt.Value, error) {
		p, err := start(peer.Command(ctx, programs, s.Kubeconfig))
		if err != nil {
			return nil, err
		}
		defer p.stop()
		filled, cpu, err := p.filled(ctx)
		if err != nil {
			return nil, p.Explain(err)
		}
		status, err := p.Status()
		if err != nil {
			return nil, p.Explain(err)
		}
		return []benchfmt.Value{
			value(filled.Sub(p.Started).Seconds(), "sec/op"), value(cpu.Seconds(), cpuSeconds),
			value(float64(status.VmHWM), peakMemory), value(float64(status.VmRSS), memory),
		}, nil
	}
}

// filled waits until the caches of a process are filled, which it says, and until it
// has looked at what is in them. It returns the moment of the first, and the CPU time
// until then.
func (p *process) filled(ctx context.Context) (time.Time, time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	err := p.Prints(limited, 1, inMemory)
	at := time.Now()
	if err != nil {
		return at, 0, err
	}
	cpu, err := p.CPU()
	if err != nil {
		return at, 0, err
	}
	// sample-controller says of each Foo that it names no Deployment, at most one in a
	// millisecond. It is not waited for.
	return at, cpu, p.quiet(limited, 10*time.Second)
}
