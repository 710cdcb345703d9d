package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"example.com/byhand/compare/peers"
)

// failsOver says whether the failovers of a peer are measured. More workers change nothing
// for byhand. As shipped, controller-runtime's Lease has to expire: that takes as long as if
// its holder were killed, and is left out where that is.
func (b *bench) failsOver(p peers.Peer) bool {
	return p.Elects && p.Name != "byhand-tuned" && !(p.Name == "controller-runtime" && b.plan.killedFailovers == 0)
}

// election makes a replica one of several. The times are those of everybody: a Lease
// of 15 s, renewed within 10 s, looked at every 2 s.
var election = peers.Options{LeaseNamespace: namespace}

// longestTry is how long after one try for the Lease the next one comes at the latest:
// every 2 s, and client-go adds up to 1.2 times as much. An end at any moment of it
// finds the standby anywhere between two tries.
const longestTry = 4400 * time.Millisecond

// failovers measures the failover of each peer on a control plane of its own, of all at the
// same time: what is waited for is a Lease, which a busy CPU changes little.
func (b *bench) failovers(ctx context.Context) error {
	var running sync.WaitGroup
	for _, peer := range b.peersWhere(b.failsOver) {
		running.Go(func() {
			if err := b.with(ctx, peer, 1, failover); err != nil {
				b.problem(fmt.Errorf("%s: %w", peer.Name, err))
			}
		})
	}
	running.Wait()
	return nil
}

// failover runs two replicas and ends the leader, first as a service manager does
// and then by force, and measures how long a new Foo waits for its Deployment.
func failover(ctx context.Context, r *run) error {
	// One leads ...
	limited, cancel := r.limit(ctx, 1)
	defer cancel()
	created := r.expect(deployments, made, fooName(0))
	leader, err := r.start(ctx, election)
	if err != nil {
		return err
	}
	if _, err := r.await(limited, leader.Done(), created); err != nil {
		return err
	}
	// ... and one stands by.
	standby, err := r.standby(ctx)
	if err != nil {
		return err
	}
	foo := 1
	for _, end := range []struct {
		name   string
		signal syscall.Signal
		times  int
	}{
		{"clean", syscall.SIGTERM, r.bench.plan.cleanFailovers},
		{"killed", syscall.SIGKILL, r.bench.plan.killedFailovers},
	} {
		for range end.times {
			if err := standby.pause(ctx, time.After(rand.N(longestTry))); err != nil {
				return err
			}
			waited, err := r.replace(ctx, leader, standby, end.signal, fooName(foo))
			if err != nil {
				return fmt.Errorf("failover, %s: %w", end.name, err)
			}
			foo++
			if err := r.bench.report("Failover/end="+end.name, 1, r.peer, 1, value(waited.Seconds(), "sec/op")); err != nil {
				return err
			}
			leader = standby
			if standby, err = r.standby(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// standby starts one more replica and waits until it has nothing to do.
func (r *run) standby(ctx context.Context) (*process, error) {
	p, err := r.start(ctx, election)
	if err != nil {
		return nil, err
	}
	return p, p.quiet(ctx, 20*time.Second)
}

// replace ends the leader and returns how long a Foo that is created right then waits
// for the Deployment that the standby makes.
func (r *run) replace(ctx context.Context, leader, standby *process, signal syscall.Signal, name string) (time.Duration, error) {
	limited, cancel := r.limit(ctx, 1)
	defer cancel()
	begin := time.Now()
	if err := leader.Signal(signal); err != nil {
		return 0, fmt.Errorf("end the leader: %w", err)
	}
	// A leader that got SIGTERM may still reconcile a new Foo before it ends. This Foo is
	// for the standby.
	select {
	case <-leader.Done():
	case <-limited.Done():
		return 0, fmt.Errorf("the leader does not end: %w", context.Cause(limited))
	}
	at, err := r.createAndAwait(limited, standby, name)
	return at.Sub(begin), err
}

// createAndAwait creates a Foo and returns when its Deployment was seen, once the process
// has also written its status.
func (r *run) createAndAwait(ctx context.Context, p *process, name string) (time.Time, error) {
	created, status := r.expect(deployments, made, name), r.expect(foos, statusWritten, name)
	if _, err := r.createFoo(ctx, newFoo(name)); err != nil {
		return time.Time{}, err
	}
	_, err := r.await(ctx, p.Done(), created, status)
	return created.last, err
}
