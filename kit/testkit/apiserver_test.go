package testkit_test

import (
	"cmp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/tests"
)

const deploymentPath = "/apis/apps/v1/namespaces/default/deployments/"

func withReplicas(replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
}

// The garbage collector looks up an owner by version, kind, name and UID. It keeps an object whose owner has a
// kind that is not served. It deletes one whose owner's name now has a different UID.
func TestGarbage(t *testing.T) {
	for _, test := range []struct {
		name      string
		owner     metav1.OwnerReference
		collected bool
	}{
		{"the owner is there", metav1.OwnerReference{Kind: "Deployment", Name: "a"}, false},
		{"it is gone", metav1.OwnerReference{Kind: "Deployment", Name: "b"}, true},
		{"a new object has its name", metav1.OwnerReference{Kind: "Deployment", Name: "a", UID: "other"}, true},
		{"its kind is not served", metav1.OwnerReference{Kind: "Deployments", Name: "b"}, false},
		{"its version is not served", metav1.OwnerReference{APIVersion: "apps/v2", Kind: "Deployment", Name: "b"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tests.NewAPIServer()
			s.Add(deploymentPath+"a", withReplicas(1))
			test.owner.APIVersion = cmp.Or(test.owner.APIVersion, appsv1.SchemeGroupVersion.String())
			test.owner.UID = cmp.Or(test.owner.UID, s.Get(deploymentPath+"a").GetUID())
			owned := &unstructured.Unstructured{Object: map[string]any{}}
			owned.SetOwnerReferences([]metav1.OwnerReference{test.owner})
			s.Add(deploymentPath+"d", owned)
			for _, act := range s.Garbage() {
				act.Do()
			}
			if collected := s.Get(deploymentPath+"d") == nil; collected != test.collected {
				t.Errorf("collected: %t, want %t", collected, test.collected)
			}
		})
	}
}
