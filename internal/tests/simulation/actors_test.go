package simulation

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// The people who act on the server: users of Foos, and others.

// hold is a finalizer that another program removes sooner or later.
const hold = "example.com/hold"

func pathOf(resource string, key cache.ObjectName) string {
	group := "samplecontroller.k8s.io/v1alpha1"
	if resource == "deployments" {
		group = "apps/v1"
	}
	return "/apis/" + group + "/namespaces/" + key.Namespace + "/" + resource + "/" + key.Name
}

// short is the end of a path, namespace and all.
func short(path string) string {
	return path[strings.Index(path, "/namespaces/")+len("/namespaces/"):]
}

// change edits a stored object in an actor's name.
func (s *sequence) change(who, path, what string, edit func(object *unstructured.Unstructured)) bool {
	s.rules.touched[path]++
	s.api.Edit(path, edit)
	s.note(who, "%s: %s → v%d", short(path), what, s.api.Version())
	return true
}

// setField is a change of one field; nil removes it.
func (s *sequence) setField(who, path string, value any, fields ...string) bool {
	what := strings.Join(fields, ".")
	return s.change(who, path, what+" = "+text(value), func(object *unstructured.Unstructured) {
		if value == nil {
			unstructured.RemoveNestedField(object.Object, fields...)
		} else if err := unstructured.SetNestedField(object.Object, value, fields...); err != nil {
			s.breaks("set %s: %v", what, err)
		}
	})
}

func (s *sequence) terminate(who, path string, policy metav1.DeletionPropagation) bool {
	s.rules.touched[path]++
	s.api.Delete(path, policy)
	s.note(who, "%s: delete, %s → v%d", short(path), policy, s.api.Version())
	return true
}

// target returns where an actor acts: often at the object of a worker's last request.
func (s *sequence) target(resource string, names []string) string {
	var contested []string
	for _, w := range s.workers {
		if strings.Contains(w.sending, "/"+resource+"/") {
			contested = append(contested, w.sending)
		}
	}
	if len(contested) > 0 && s.chance(50) {
		return pick(s, contested)
	}
	return pathOf(resource, cache.NewObjectName(pick(s, s.namespaces), pick(s, names)))
}

func (s *sequence) userActs() bool {
	path := s.target("foos", s.fooNames)
	foo := s.api.Get(path)
	if foo == nil {
		return s.createsFoo(path)
	}
	if foo.GetDeletionTimestamp() != nil {
		return false
	}
	switch n := s.rand.IntN(100); {
	case n < 25:
		return s.setField("user", path, s.replicas(), "spec", "replicas")
	case n < 70:
		return s.setField("user", path, pick(s, s.names), "spec", "deploymentName")
	case n < 72:
		return s.setField("user", path, "NOT-a-name", "spec", "deploymentName")
	case n < 74:
		return s.setField("user", path, int64(-1), "spec", "replicas")
	case n < 78:
		return s.setField("user", path, pick(s, []any{"1", "2"}), "metadata", "labels", "note")
	case n < 85:
		return s.terminate("user", path, metav1.DeletePropagationBackground)
	case n < 90:
		return s.terminate("user", path, metav1.DeletePropagationForeground)
	case n < 92:
		return s.terminate("user", path, metav1.DeletePropagationOrphan)
	default:
		s.terminate("user", path, metav1.DeletePropagationBackground)
		return s.createsFoo(path)
	}
}

func (s *sequence) createsFoo(path string) bool {
	spec := map[string]any{"deploymentName": pick(s, s.names)}
	if replicas := s.replicas(); replicas != nil {
		spec["replicas"] = replicas
	}
	s.create("user", path, spec)
	return true
}

func (s *sequence) create(who, path string, spec map[string]any) {
	s.rules.touched[path]++
	s.api.Add(path, &unstructured.Unstructured{Object: map[string]any{"spec": spec}})
	s.note(who, "%s: create %s → %s", short(path), text(spec), s.api.Get(path).GetUID())
}

// replicas is a number for a spec, or none.
func (s *sequence) replicas() any {
	return pick(s, []any{nil, int64(0), int64(1), int64(2), int64(3)})
}

// strangerActs changes Deployments and a Foo's status as other clients do.
func (s *sequence) strangerActs() bool {
	return s.strangers && s.strangerActsOn(s.target("deployments", s.names))
}

// ambush lets another client act, sometimes, on the Deployment that a request is on its
// way to.
func (s *sequence) ambush(path string) {
	if s.strangers && !s.resting && strings.Contains(path, "/deployments/") && s.chance(20) {
		s.strangerActsOn(path)
	}
}

func (s *sequence) strangerActsOn(path string) bool {
	if s.api.Get(path) == nil {
		return s.chance(40) && s.createsDeployment(path)
	}
	switch n := s.rand.IntN(100); {
	case n < 36:
		return s.setsAnything(path)
	case n < 42:
		return s.setField("stranger", path, pick(s, []any{"1", "2"}), "metadata", "labels", "note")
	case n < 62:
		return s.terminate("stranger", path, metav1.DeletePropagationBackground)
	case n < 68:
		return s.terminate("stranger", path, metav1.DeletePropagationForeground)
	case n < 75:
		return s.change("stranger", path, "hold", func(object *unstructured.Unstructured) {
			if object.GetDeletionTimestamp() == nil {
				object.SetFinalizers([]string{hold})
			}
		})
	default:
		return s.forgesOwner(path)
	}
}

func (s *sequence) createsDeployment(path string) bool {
	labels := map[string]any{"app": "theirs"}
	s.create("stranger", path, map[string]any{
		"replicas": int64(1),
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "theirs", "image": "theirs:1"}}},
		},
	})
	if s.chance(50) {
		s.forgesOwner(path)
	}
	return true
}

// setsAnything sets a field that the program sets, or all that it reports.
func (s *sequence) setsAnything(path string) bool {
	f := pick(s, fields)
	if f.resource == "foos" {
		foos := s.api.Paths("foos")
		if len(foos) == 0 {
			return false
		}
		path = pick(s, foos)
	}
	return s.change("stranger", path, f.String(), f.set)
}

func (s *sequence) forgesOwner(path string) bool {
	namespace, _, _ := strings.Cut(short(path), "/")
	owner := metav1.OwnerReference{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: pick(s, s.fooNames), UID: "forged", Controller: new(true), BlockOwnerDeletion: new(true)}
	switch s.rand.IntN(6) {
	case 0: // a UID that no object has
	case 1: // a Foo of this namespace owns it, and does not control it
		foo := s.api.Get(pathOf("foos", cache.NewObjectName(namespace, owner.Name)))
		if foo == nil {
			return false
		}
		owner.UID, owner.Controller = foo.GetUID(), nil
	default: // a Foo's, of whatever namespace
		foos := s.api.Paths("foos")
		if len(foos) == 0 {
			return false
		}
		foo := s.api.Get(pick(s, foos))
		owner.Name, owner.UID = foo.GetName(), foo.GetUID()
	}
	return s.change("stranger", path, "owner "+text(owner), func(object *unstructured.Unstructured) {
		object.SetOwnerReferences([]metav1.OwnerReference{owner})
	})
}
