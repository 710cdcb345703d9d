//go:build long

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// journal is what the writers did.
type journal struct {
	mu      sync.Mutex
	began   time.Time
	lines   []string
	deleted map[types.UID]bool // the Deployments that they deleted
}

func newJournal(t *testing.T) *journal {
	j := &journal{began: time.Now(), deleted: map[types.UID]bool{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was done:\n%s", strings.Join(j.lines, "\n"))
		}
	})
	return j
}

func (j *journal) note(who string, what step, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	outcome := "done"
	if err != nil {
		outcome = string(apierrors.ReasonForError(err))
	}
	j.lines = append(j.lines, fmt.Sprintf("%s  %s  %s: %s", j.began.Add(time.Since(j.began)).Format("15:04:05.000"), who, what, outcome))
}

func (j *journal) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.lines)
}

// step is one thing that a writer does. All of it is drawn before anything is
// sent, so that a seed always gives the same steps, whatever the server answers.
type step struct {
	kind            string
	foo, deployment string
	replicas        *int32
	propagation     metav1.DeletionPropagation
	pause           time.Duration
}

func (s step) String() string {
	replicas := "any"
	if s.replicas != nil {
		replicas = fmt.Sprint(*s.replicas)
	}
	switch s.kind {
	case createFoo:
		return fmt.Sprintf("%s %s: %s, replicas %s", s.kind, s.foo, s.deployment, replicas)
	case scaleFoo:
		return fmt.Sprintf("%s %s to %s", s.kind, s.foo, replicas)
	case renameFoo:
		return fmt.Sprintf("%s %s to %s", s.kind, s.foo, s.deployment)
	case deleteFoo:
		return fmt.Sprintf("%s %s (%s)", s.kind, s.foo, s.propagation)
	default:
		return fmt.Sprintf("%s %s (%s, replicas %s)", s.kind, s.deployment, s.propagation, replicas)
	}
}

const (
	createFoo         = "create Foo"
	scaleFoo          = "scale Foo"
	renameFoo         = "rename Foo"
	deleteFoo         = "delete Foo"
	createDeployment  = "create Deployment"
	scaleDeployment   = "scale Deployment"
	editDeployment    = "edit Deployment"
	relabelDeployment = "relabel Deployment"
	releaseDeployment = "release Deployment"
	deleteDeployment  = "delete Deployment"
)

// changes are drawn from as often as they stand here.
var changes = []string{
	createFoo, createFoo, createFoo, createFoo, createFoo, scaleFoo, scaleFoo, renameFoo, renameFoo, renameFoo, deleteFoo, deleteFoo,
	createDeployment, scaleDeployment, scaleDeployment, editDeployment, relabelDeployment, releaseDeployment, deleteDeployment, deleteDeployment, deleteDeployment,
}

// writer is somebody who writes to Foos and Deployments.
type writer struct {
	*server
	journal *journal
	name    string
	random  *rand.Rand
}

func (w *writer) draw() step {
	r := w.random
	drawn := step{
		kind:       changes[r.Intn(len(changes))],
		foo:        fmt.Sprintf("foo-%d", r.Intn(8)),
		deployment: fmt.Sprintf("d-%d", r.Intn(6)),
		replicas:   []*int32{nil, new(int32(0)), new(int32(1)), new(int32(2)), new(int32(3))}[r.Intn(5)],
		propagation: []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationBackground,
			metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[r.Intn(4)],
	}
	// Steps come in bursts.
	if pause := time.Duration(r.Intn(400)) * time.Millisecond; r.Intn(2) == 0 {
		drawn.pause = pause
	}
	return drawn
}

func (w *writer) work() {
	for i := range *steps {
		drawn := w.draw()
		w.journal.note(w.name, drawn, w.take(drawn, fmt.Sprintf("%s-%d", w.name, i)))
		time.Sleep(drawn.pause)
	}
}

// take takes a step. mark is unlike that of any other step.
func (w *writer) take(s step, mark string) error {
	ctx, foos := context.Background(), w.client.SamplecontrollerV1alpha1().Foos(w.namespace)
	patch := func(spec object) error {
		_, err := foos.Patch(ctx, s.foo, types.MergePatchType, marshal(object{"spec": spec}), metav1.PatchOptions{})
		return err
	}
	switch s.kind {
	case createFoo:
		_, err := foos.Create(ctx, &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: s.foo}, Spec: v1alpha1.FooSpec{DeploymentName: s.deployment, Replicas: s.replicas}}, metav1.CreateOptions{})
		return err
	case scaleFoo:
		return patch(object{"replicas": s.replicas})
	case renameFoo:
		return patch(object{"deploymentName": s.deployment})
	case deleteFoo:
		return foos.Delete(ctx, s.foo, metav1.DeleteOptions{PropagationPolicy: &s.propagation})
	case deleteDeployment:
		return w.delete(ctx, s)
	default:
		return w.meddle(ctx, s, mark)
	}
}

// meddle creates or changes a Deployment, whoever's it is.
func (w *writer) meddle(ctx context.Context, s step, mark string) error {
	deployments := w.kube.AppsV1().Deployments(w.namespace)
	metadata, spec := object{"annotations": object{markAnnotation: mark}}, object{}
	switch s.kind {
	case createDeployment:
		_, err := deployments.Create(ctx, somebodys(s.deployment), metav1.CreateOptions{})
		return err
	case scaleDeployment:
		spec["replicas"] = s.replicas
	case editDeployment:
		spec["template"] = object{"spec": object{"containers": []object{{"name": "nginx", "image": mark}}}}
	case relabelDeployment:
		metadata["labels"] = object{"relabelled": mark}
	case releaseDeployment:
		metadata["ownerReferences"] = []object{{"$patch": "replace"}}
	}
	patch := marshal(object{"metadata": metadata, "spec": spec})
	_, err := deployments.Patch(ctx, s.deployment, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return err
}

// object is JSON to be.
type object map[string]any

// delete deletes a Deployment and notes which one it was.
func (w *writer) delete(ctx context.Context, s step) error {
	deployments := w.kube.AppsV1().Deployments(w.namespace)
	found, err := deployments.Get(ctx, s.deployment, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if s.propagation == metav1.DeletePropagationOrphan {
		s.propagation = metav1.DeletePropagationBackground // nobody would ever remove its Pods
	}
	err = deployments.Delete(ctx, s.deployment, metav1.DeleteOptions{PropagationPolicy: &s.propagation, Preconditions: metav1.NewUIDPreconditions(string(found.UID))})
	if err == nil {
		w.journal.mu.Lock()
		defer w.journal.mu.Unlock()
		w.journal.deleted[found.UID] = true
	}
	return err
}

func marshal(value object) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of words and numbers
	}
	return encoded
}

// markAnnotation changes with each step that changes a Deployment.
const markAnnotation = "e2e/last-step"
