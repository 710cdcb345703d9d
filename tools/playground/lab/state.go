package lab

import (
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/kit/testkit"
)

// State returns the current state. The tables are kubectl's for foo,deployment -o wide, plus the
// controller of a Deployment, minus columns that change with time alone.
func (p *Playground) State() State {
	s := State{Foos: [][]string{}, Deployments: [][]string{}, Replicas: []string{}}
	for _, foo := range stored[v1alpha1.Foo](p.api, "foos") {
		ready, reason := "", ""
		if condition := meta.FindStatusCondition(foo.Status.Conditions, v1alpha1.FooReady); condition != nil {
			ready, reason = string(condition.Status), condition.Reason
		}
		s.Foos = append(s.Foos, []string{foo.Name, foo.Spec.DeploymentName, fmt.Sprint(ptr.Deref(foo.Spec.Replicas, 1)), fmt.Sprint(foo.Status.AvailableReplicas), ready, reason})
	}
	for _, d := range stored[appsv1.Deployment](p.api, "deployments") {
		controlled, image := "", ""
		if owner := metav1.GetControllerOf(&d); owner != nil {
			controlled = owner.Kind + " " + owner.Name
		}
		if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
			image = containers[0].Image
		}
		s.Deployments = append(s.Deployments, []string{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)), fmt.Sprint(d.Status.AvailableReplicas), image, controlled})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Bug, s.On = p.bug, maps.Clone(p.on)
	for _, r := range p.replicas {
		role := " stands by"
		if r == p.shown {
			role = " leads"
		}
		s.Replicas = append(s.Replicas, r.name+role)
	}
	if p.on["hold"] {
		s.Held, s.Store = p.heldBack(), p.shown.deployments()
	}
	if stored := p.api.Get(lease); p.shown == nil && stored != nil {
		renewed, _, _ := unstructured.NestedString(stored.Object, "spec", "renewTime")
		if at, err := time.Parse(time.RFC3339, renewed); err == nil {
			s.Lease = at.Add(election.LeaseDuration).UnixMilli()
		}
	}
	return s
}

// deployments returns the replicas of each Deployment in the store of a process.
func (r *replica) deployments() map[string]string {
	all := map[string]string{}
	if r == nil || r.store.Load() == nil {
		return all
	}
	for _, object := range (*r.store.Load()).List() {
		d := object.(*appsv1.Deployment)
		all[d.Name] = fmt.Sprint(ptr.Deref(d.Spec.Replicas, 1))
	}
	return all
}

// stored returns the server's objects of a resource. It skips objects that T cannot hold.
func stored[T any](api *testkit.APIServer, resource string) (all []T) {
	for _, object := range api.List(resource) {
		var typed T
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed) == nil {
			all = append(all, typed)
		}
	}
	return all
}
