package stage

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

// World is a control plane, or an API server in memory.
type World struct {
	Judge *Judge
	// Bare: there is only an API server. The judge plays the controller of Deployments, so that a rollout
	// takes no time.
	Bare bool

	Plane   *plane.Plane
	Kube    kubernetes.Interface
	Canary  *canary
	ground  context.CancelFunc // ends the canary
	dynamic dynamic.Interface

	stages atomic.Int64
	Stuck  bool // in memory: a program does not return

	// Results of the run without faults.
	Bound    time.Duration // how long the program may take
	Writes   int           // its writes for the script
	Baseline string        // the final state of the script
	Hopeless string        // why nothing else can be judged
}

// UsualBound is Judge.Bound for an unknown program. A Lease, or a pause after errors, ends within it.
const UsualBound = time.Minute

// Worlds has the control planes, by World.Bare.
type Worlds map[bool]*World

// Up starts the missing control planes that these scenarios need. The caller calls Down.
func (j *Judge) Up(ctx context.Context, worlds Worlds, chosen []Scenario) error {
	command, err := plane.Build(ctx, j.Dir)
	if err != nil {
		return err
	}
	var starting []func() error
	for _, sc := range chosen {
		if worlds[sc.Bare] == nil {
			w := &World{Bare: sc.Bare}
			worlds[sc.Bare] = w
			starting = append(starting, func() error { return w.start(ctx, command) })
		}
	}
	for _, w := range worlds {
		w.Meet(j)
	}
	return utilerrors.AggregateGoroutines(starting...)
}

func (w *World) start(ctx context.Context, command plane.Command) (err error) {
	components := plane.Whole
	if w.Bare {
		components = plane.Bare
	}
	if w.Plane, err = command.Up(ctx, components, "judge"); err != nil {
		return err
	}
	w.Kube = w.Plane.Kube
	if w.dynamic, err = dynamic.NewForConfig(w.Plane.Config); err != nil {
		return err
	}
	// The canary runs as long as the control plane, which may outlive the caller's ctx.
	ctx, w.ground = context.WithCancel(context.WithoutCancel(ctx))
	w.Canary, err = fly(ctx, w.Kube)
	return err
}

// Down stops and removes the control planes.
func Down(worlds Worlds) error {
	var ending []func() error
	for _, w := range worlds {
		if w.ground != nil {
			w.ground()
		}
		if w.Plane != nil {
			ending = append(ending, w.Plane.Down)
		}
	}
	return utilerrors.AggregateGoroutines(ending...)
}

// Meet resets the world for a new program.
func (w *World) Meet(j *Judge) {
	w.Judge, w.Bound, w.Writes, w.Baseline, w.Hopeless = j, j.Bound, 0, "", ""
}

// Foos returns a client for the Foos of a namespace.
func (s *Stage) Foos(namespace string) dynamic.ResourceInterface {
	return s.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos")).Namespace(namespace)
}
