package simulation

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/tests/oracle"
)

// Users, other clients, the garbage collector and the Deployment controller.

func pathOf(resource, name string) string {
	group := "samplecontroller.k8s.io/v1alpha1"
	if resource == "deployments" {
		group = "apps/v1"
	}
	return "/apis/" + group + "/namespaces/default/" + resource + "/" + name
}

// change edits a stored object.
func (s *sequence) change(who, path, what string, edit func(object *unstructured.Unstructured)) bool {
	s.api.Edit(path, edit)
	s.note(who, "%s: %s → v%d", path, what, s.api.Version())
	return true
}

// setField changes one field; nil removes it.
func (s *sequence) setField(who, path, name string, value any) bool {
	return s.change(who, path, name+" = "+text(value), (&field{path: name, value: value}).set)
}

func (s *sequence) deletes(who, path string, policy metav1.DeletionPropagation) bool {
	s.api.Delete(path, policy)
	s.note(who, "%s: delete, %s → v%d", path, policy, s.api.Version())
	return true
}

func (s *sequence) creates(who, path string, spec map[string]any) bool {
	s.api.Add(path, &unstructured.Unstructured{Object: map[string]any{"spec": spec}})
	s.note(who, "%s: create %s → %s", path, text(spec), s.api.Get(path).GetUID())
	return true
}

// userActs changes a Foo as a user may.
func (s *sequence) userActs() bool {
	path := pathOf("foos", pick(s, s.foos))
	foo := s.api.Get(path)
	if foo == nil {
		return s.createsFoo(path)
	}
	if foo.GetDeletionTimestamp() != nil {
		return false
	}
	switch n := s.rand.IntN(100); {
	case n < 25:
		return s.setField("user", path, "spec.replicas", s.replicas())
	case n < 70:
		return s.setField("user", path, "spec.deploymentName", pick(s, s.names))
	case n < 73:
		return s.setField("user", path, "spec.deploymentName", "NOT-a-name")
	case n < 78:
		return s.setField("user", path, "metadata.labels.note", fmt.Sprint(n))
	case n < 92:
		return s.deletes("user", path, pick(s, []metav1.DeletionPropagation{"Background", "Foreground", "Orphan"}))
	}
	s.deletes("user", path, metav1.DeletePropagationBackground)
	return s.createsFoo(path)
}

func (s *sequence) createsFoo(path string) bool {
	spec := map[string]any{"deploymentName": pick(s, s.names)}
	if replicas := s.replicas(); replicas != nil {
		spec["replicas"] = replicas
	}
	return s.creates("user", path, spec)
}

// replicas returns a number for a spec, or nil.
func (s *sequence) replicas() any { return pick(s, []any{nil, int64(0), int64(1), int64(2), int64(3)}) }

// strangerActs changes Deployments and the status of Foos, as other clients do.
func (s *sequence) strangerActs() bool {
	path := pathOf("deployments", pick(s, s.names))
	switch n := s.rand.IntN(100); {
	case !s.strangers:
		return false
	case s.api.Get(path) == nil:
		labels := map[string]any{"app": "theirs"}
		return s.chance(40) && s.creates("stranger", path, map[string]any{
			"replicas": int64(1),
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "theirs", "image": "theirs:1"}}},
			},
		})
	case n < 36:
		f := pick(s, fields)
		if f.resource == "foos" {
			path = pathOf("foos", pick(s, s.foos))
		}
		return s.api.Get(path) != nil && s.change("stranger", path, "sets "+f.path, f.set)
	case n < 42:
		return s.setField("stranger", path, "metadata.labels.note", fmt.Sprint(n))
	case n < 68:
		return s.deletes("stranger", path, pick(s, []metav1.DeletionPropagation{"Background", "Foreground"}))
	}
	return s.forgesOwner(path)
}

// forgesOwner replaces a Deployment's owner references with one to a Foo, which may not exist.
func (s *sequence) forgesOwner(path string) bool {
	owner := metav1.OwnerReference{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: pick(s, s.foos), UID: "forged", Controller: new(true), BlockOwnerDeletion: new(true)}
	if foo := s.api.Get(pathOf("foos", owner.Name)); foo != nil && s.chance(80) {
		owner.UID, owner.Controller = foo.GetUID(), pick(s, []*bool{nil, new(true), new(true)})
	}
	return s.change("stranger", path, "owner "+text(owner), func(object *unstructured.Unstructured) {
		object.SetOwnerReferences([]metav1.OwnerReference{owner})
	})
}

// collectorActs is one act of the garbage collector.
func (s *sequence) collectorActs() bool {
	due := s.api.Garbage()
	if len(due) == 0 {
		return false
	}
	act := pick(s, due)
	act.Do()
	s.note("collector", "%s: %s → v%d", act.Path, act.What, s.api.Version())
	return true
}

// rolloutActs is one act of the Deployment controller: it observes a Deployment's newest spec, and makes some
// of its Pods available; while the sequence rests, all.
func (s *sequence) rolloutActs() bool {
	var due []func() bool
	for _, path := range s.api.Paths("deployments") {
		object := s.api.Get(path)
		available := int64(max(0, oracle.Replicas(decode[appsv1.Deployment](s, object))))
		if !s.resting {
			available = s.rand.Int64N(available + 1)
		}
		status := map[string]any{"replicas": available, "updatedReplicas": available, "availableReplicas": available, "observedGeneration": object.GetGeneration()}
		if is, _, _ := unstructured.NestedMap(object.Object, "status"); !reflect.DeepEqual(is, status) {
			due = append(due, func() bool { return s.setField("rollout", path, "status", status) })
		}
	}
	return len(due) > 0 && pick(s, due)()
}
