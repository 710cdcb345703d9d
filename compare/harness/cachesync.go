package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"golang.org/x/perf/benchfmt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/compare/peers"
)

// inMemory is the line in which a program says that its caches are filled.
var inMemory = regexp.MustCompile(`in memory: |Starting workers`)

// cacheSync lets the peers read Foos into memory, all rounds on one control plane, because none
// of them writes: there is nothing to reconcile.
func (b *bench) cacheSync(ctx context.Context, s scenario) (err error) {
	server, err := b.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Down()) }()
	if err := server.createIdleFoos(ctx, s.foos); err != nil {
		return err
	}
	s.others = slices.Repeat(s.others, s.rounds)
	return b.pairs(ctx, s, server.syncOnce(b.dir))
}

// createIdleFoos makes n Foos on which no peer acts: they are being deleted, and a
// finalizer keeps them. sample-controller ignores that, but it skips
// a Foo that names no Deployment. Otherwise they are as a controller leaves them,
// with a status and managedFields.
func (s *server) createIdleFoos(ctx context.Context, n int) error {
	client := s.client.SamplecontrollerV1alpha1().Foos(namespace)
	foo, err := s.createFoo(ctx, fooName(0), "example.com/kept")
	if err != nil {
		return err
	}
	foo.Status = v1alpha1.FooStatus{Replicas: 1, AvailableReplicas: 1, ObservedGeneration: 1, Selector: "controller=" + foo.Name}
	foo.Status.Conditions = []metav1.Condition{{Type: v1alpha1.FooReady, Status: metav1.ConditionTrue, ObservedGeneration: 1,
		LastTransitionTime: metav1.Now(), Reason: v1alpha1.ReasonAvailable, Message: "1 of 1 replicas are available"}}
	if _, err := client.UpdateStatus(ctx, foo, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := client.Delete(ctx, foo.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return s.copyFoo(ctx, foo, n, func(json []byte) []byte {
		return bytes.ReplaceAll(json, fmt.Appendf(nil, `"deploymentName":%q`, foo.Name), []byte(`"deploymentName":""`))
	})
}

// syncOnce measures from the start of a process, whose program is in a folder, until its caches
// are filled, and what it holds when it has looked at every Foo.
func (s *server) syncOnce(programs string) measurement {
	return func(ctx context.Context, peer peers.Peer, _ int) (values []benchfmt.Value, err error) {
		_, before, err := s.metrics(ctx)
		if err != nil {
			return nil, err
		}
		p, err := start(peer.Command(ctx, programs, s.Kubeconfig))
		if err != nil {
			return nil, err
		}
		defer p.stop()
		defer func() { err = p.Explain(err) }()
		limited, cancel := context.WithTimeout(ctx, 3*time.Minute)
		defer cancel()
		if err := p.Prints(limited, 1, inMemory); err != nil {
			return nil, err
		}
		took := time.Since(p.Started)
		cpu, err := p.CPU()
		if err != nil {
			return nil, err
		}
		_, after, err := s.metrics(ctx)
		if err != nil {
			return nil, err
		}
		// sample-controller says of each Foo that it names no Deployment, at most one in a
		// millisecond. Of 100,000 Foos it is not waited for.
		if err := p.quiet(limited, 15*time.Second); err != nil {
			return nil, err
		}
		peak := p.peakRSS()
		live, err := p.liveHeap(limited)
		return []benchfmt.Value{value(took.Seconds(), "sec/op"), value(cpu.Seconds(), cpuSeconds), value(after-before, serverSeconds), value(float64(peak), peakMemory), value(live, liveMemory)}, err
	}
}
