package lab

import (
	"context"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// collectEvery and availableEvery are the pace of the other programs, slow enough to be seen.
	collectEvery   = 500 * time.Millisecond
	availableEvery = 700 * time.Millisecond
	// mostHistory bounds the memory: the server compacts after so many changes. A real one does every
	// five minutes.
	mostHistory = 5000
)

// others runs the other programs of a cluster until ctx is done. Faults do not affect their writes.
func (p *Playground) others(ctx context.Context) {
	every := func(pause time.Duration, act func()) {
		go wait.UntilWithContext(ctx, func(context.Context) { act() }, pause)
	}
	every(collectEvery, func() {
		for _, act := range p.api.Garbage() {
			p.writing.Lock()
			act.Do()
			method := http.MethodPut
			if act.What == "delete" {
				method = http.MethodDelete
			}
			p.noteWrite(collector, method, act.Path, http.StatusOK, nil)
			p.writing.Unlock()
		}
		if len(p.api.History()) > mostHistory {
			p.api.Compact()
		}
	})
	every(availableEvery, func() { p.api.Each("deployments", rollOut) })
}

// rollOut is one step of the Deployment controller: it observes the newest spec, and one more Pod
// becomes available. Surplus Pods go at once.
func rollOut(object *unstructured.Unstructured) {
	deployment := &appsv1.Deployment{}
	if object.GetDeletionTimestamp() != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment) != nil || deployment.Spec.Replicas == nil {
		return
	}
	wanted, status := *deployment.Spec.Replicas, deployment.Status
	status.ObservedGeneration = deployment.Generation
	status.Replicas = wanted
	status.AvailableReplicas = min(status.AvailableReplicas+1, wanted)
	status.ReadyReplicas, status.UpdatedReplicas = status.AvailableReplicas, status.AvailableReplicas
	if written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status); err == nil {
		object.Object["status"] = written
	}
}
