package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/compare/plane"
	"example.com/byhand/internal/testkit"
)

// world is one control plane, with the proxy that the program talks to.
type world struct {
	judge *judge
	// bare: there is an API server and nothing else. The judge plays the controller of
	// Deployments, so that a rollout takes no time.
	bare bool

	plane   *plane.Plane
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	proxy   *testkit.Proxy
	through string // the kubeconfig of the program

	stages int

	// What the run without faults has shown.
	bound    time.Duration // how long the program may take
	writes   int           // what it writes for the story
	baseline string        // the end of the story
	hopeless string        // why nothing else can be judged
}

// usualBound is judge.bound for a program of which nothing is known: a Lease expires and a
// pause after errors ends in it.
const usualBound = time.Minute

// up starts a control plane with the CRDs in it. The caller calls down, unless there is an
// error.
func (j *judge) up(ctx context.Context, bare bool) (*world, error) {
	w := &world{bare: bare}
	w.meet(j)
	command, err := plane.Build(ctx, j.dir)
	if err != nil {
		return nil, err
	}
	components := plane.Whole
	if bare {
		components = plane.Bare
	}
	if w.plane, err = command.Up(ctx, components, "judge"); err != nil {
		return nil, err
	}
	if err := w.connect(); err != nil {
		return nil, errors.Join(err, w.down())
	}
	return w, nil
}

// meet makes the world ready for a program of which nothing is known yet.
func (w *world) meet(j *judge) {
	w.judge, w.bound, w.writes, w.baseline, w.hopeless = j, j.bound, 0, "", ""
}

// connect makes the clients and the proxy.
func (w *world) connect() (err error) {
	w.kube = w.plane.Kube
	if w.dynamic, err = dynamic.NewForConfig(w.plane.Config); err != nil {
		return err
	}
	if w.proxy, err = testkit.NewProxy(w.plane.Config); err != nil {
		return err
	}
	w.through, err = w.proxy.Kubeconfig(w.judge.dir)
	return err
}

func (w *world) down() error {
	if w.proxy != nil {
		_ = w.proxy.Close()
	}
	return w.plane.Down()
}

// foos is the client of the Foos of a namespace.
func (w *world) foos(namespace string) dynamic.ResourceInterface {
	return w.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")).Namespace(namespace)
}
