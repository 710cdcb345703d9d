package court

import (
	"context"
	"sync/atomic"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/run/plane"
)

// world is one control plane.
type world struct {
	judge *judge
	// bare: there is an API server and nothing else. The judge plays the controller of
	// Deployments, so that a rollout takes no time.
	bare bool

	plane   *plane.Plane
	kube    kubernetes.Interface
	canary  *canary
	ground  context.CancelFunc // ends the canary
	dynamic dynamic.Interface

	stages atomic.Int64
	stuck  bool // in memory: a program does not return

	// What the run without faults has shown.
	bound    time.Duration // how long the program may take
	writes   int           // what it writes for the script
	baseline string        // the end of the script
	hopeless string        // why nothing else can be judged
}

// usualBound is judge.bound for a program of which nothing is known: a Lease expires and a
// pause after errors ends in it.
const usualBound = time.Minute

// worlds are the control planes, by whether they are bare.
type worlds map[bool]*world

// up starts the control planes that these scenarios need, if there are none yet. The caller calls down.
func (j *judge) up(ctx context.Context, worlds worlds, chosen []scenario) error {
	command, err := plane.Build(ctx, j.dir)
	if err != nil {
		return err
	}
	var starting []func() error
	for _, sc := range chosen {
		if worlds[sc.bare] == nil {
			w := &world{bare: sc.bare}
			worlds[sc.bare] = w
			starting = append(starting, func() error { return w.start(ctx, command) })
		}
	}
	for _, w := range worlds {
		w.meet(j)
	}
	return utilerrors.AggregateGoroutines(starting...)
}

func (w *world) start(ctx context.Context, command plane.Command) (err error) {
	components := plane.Whole
	if w.bare {
		components = plane.Bare
	}
	if w.plane, err = command.Up(ctx, components, "judge"); err != nil {
		return err
	}
	w.kube = w.plane.Kube
	if w.dynamic, err = dynamic.NewForConfig(w.plane.Config); err != nil {
		return err
	}
	// It flies as long as there is a control plane, longer than what first wanted one.
	ctx, w.ground = context.WithCancel(context.WithoutCancel(ctx))
	w.canary, err = fly(ctx, w.kube)
	return err
}

// down stops the control planes, and removes them.
func down(worlds worlds) error {
	var ending []func() error
	for _, w := range worlds {
		if w.ground != nil {
			w.ground()
		}
		if w.plane != nil {
			ending = append(ending, w.plane.Down)
		}
	}
	return utilerrors.AggregateGoroutines(ending...)
}

// meet makes the world ready for a program of which nothing is known yet.
func (w *world) meet(j *judge) {
	w.judge, w.bound, w.writes, w.baseline, w.hopeless = j, j.bound, 0, "", ""
}

// foos is the client of the Foos of a namespace.
func (s *stage) foos(namespace string) dynamic.ResourceInterface {
	return s.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")).Namespace(namespace)
}
