package simulation

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/testkit/oracle"
)

// One user, alone, who waits after each change until nothing happens any more:
// however the stores lag meanwhile, each change costs exactly its requests, and
// none is refused.
func TestSequencesOfOneUser(t *testing.T) {
	runSequences(t, func(t *testing.T, p plan) *sequence {
		s := newSequence(t, p)
		s.strangers, s.takeovers, s.faults, s.patient = false, false, false, true
		s.waiting = nil
		defer s.kill()
		for range s.steps / 10 {
			s.changesAndWaits()
		}
		return s
	})
}

// changesAndWaits makes one change and compares the requests that it leads to.
func (s *sequence) changesAndWaits() {
	if s.broken != "" {
		return
	}
	key := cache.NewObjectName(pick(s, s.namespaces), pick(s, s.fooNames))
	want := s.patientUserActs(key)
	got := s.settle(time.Now().Add(restTime), restRequestsAKey)
	if !slices.ContainsFunc(want, func(requests []string) bool { return slices.Equal(requests, got) }) {
		s.breaks("requests (-want +got):\n%s", cmp.Diff(want[0], got))
	}
}

// patientUserActs makes one change of a Foo, or lets its Deployment progress, and
// returns the requests that are due, or each of the two things that may be due.
func (s *sequence) patientUserActs(key cache.ObjectName) [][]string {
	path, status, ask := pathOf("foos", key), "PUT foos/"+key.Name+"/status", "GET foos/"+key.Name
	name := key.Name + "-" + pick(s, s.names) // no other Foo names it
	if s.api.Get(path) == nil {
		s.create("user", path, map[string]any{"deploymentName": name, "replicas": int64(1)})
		return [][]string{{"POST deployments", status}}
	}
	foo := typed[v1alpha1.Foo](s, s.api.Get(path))
	switch s.rand.IntN(12) {
	case 0, 1:
		s.terminate("user", path, pick(s, []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}))
		return [][]string{nil, {ask}} // The collector may be faster than the watch of the Foos.
	case 2:
		s.terminate("user", path, metav1.DeletePropagationBackground)
		s.create("user", path, map[string]any{"deploymentName": name})
		// It may first have to say that it waits for the old Deployment to go. If the store never
		// lacked the Foo, what was sent for the old one is a trace of the new one.
		var all [][]string
		for n := range 3 {
			last := append(slices.Repeat([]string{ask}, n), "POST deployments", status)
			all = append(all, last, append([]string{status}, last...))
		}
		return all
	case 3:
		s.setField("user", path, "noted", "metadata", "labels", "note")
	case 4:
		pick(s, []func() bool{s.resync, s.relist})()
	case 5, 6:
		return [][]string{s.rollsOut(foo)}
	case 7, 8, 9:
		s.setField("user", path, name, "spec", "deploymentName")
		if name != foo.Spec.DeploymentName {
			all := []string{ask, "POST deployments", ask, "GET deployments/" + name, "DELETE deployments/" + foo.Spec.DeploymentName, status}
			return [][]string{all}
		}
	default:
		return [][]string{s.scales(path, foo)}
	}
	return [][]string{nil}
}

// scales sets the number of replicas, or leaves it to others.
func (s *sequence) scales(path string, foo *v1alpha1.Foo) []string {
	before, _ := s.deploymentOf(foo)
	s.setField("user", path, s.replicas(), "spec", "replicas")
	after := typed[v1alpha1.Foo](s, s.api.Get(path))
	if after.Generation == foo.Generation {
		return nil
	}
	status := "PUT foos/" + foo.Name + "/status"
	wanted := after.Spec.Replicas
	if wanted == nil || before.Spec.Replicas != nil && *before.Spec.Replicas == *wanted {
		return []string{status}
	}
	return []string{"PUT deployments/" + before.Name, status}
}

// rollsOut makes the Pods of a Foo's Deployment available.
func (s *sequence) rollsOut(foo *v1alpha1.Foo) []string {
	before, path := s.deploymentOf(foo)
	available := max(0, oracle.Replicas(before))
	s.change("rollout", path, "all available", func(object *unstructured.Unstructured) {
		object.Object["status"] = s.rolledOut(before, available)
	})
	if reasonOf(foo.Status) == v1alpha1.ReasonAvailable && foo.Status.AvailableReplicas == available {
		return nil
	}
	return []string{"PUT foos/" + foo.Name + "/status"}
}

// deploymentOf returns the Deployment that a Foo names, and its path.
func (s *sequence) deploymentOf(foo *v1alpha1.Foo) (*appsv1.Deployment, string) {
	path := pathOf("deployments", cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName))
	return typed[appsv1.Deployment](s, s.api.Get(path)), path
}
