package testkit_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/kit/testkit"
)

const deploymentPath = "/apis/apps/v1/namespaces/default/deployments/"

// What an informer of client-go hears from the server, and asks of it: a list as a stream, a
// watch that is held back, one that is cut, and a history that is compacted meanwhile. It all
// happens in one bubble, which nothing may outlive.
func TestInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewAPIServer()
		s.Add(deploymentPath+"a", withReplicas(1))
		s.Add(deploymentPath+"b", withReplicas(1))
		heard := make(chan string, 100)
		deployments := informer.NewDeployments(kubernetes.NewForConfigOrDie(s.Config()), "", 0, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { heard <- fmt.Sprint("add ", obj.(*appsv1.Deployment).Name) },
			UpdateFunc: func(_, obj any) { heard <- fmt.Sprint("update ", obj.(*appsv1.Deployment).Name) },
			DeleteFunc: func(obj any) {
				if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					heard <- "missed the end of " + unknown.Key
				} else {
					heard <- fmt.Sprint("delete ", obj.(*appsv1.Deployment).Name)
				}
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go deployments.Run(ctx)
		hears := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for len(heard) > 0 {
				got = append(got, <-heard)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		hears("add a", "add b")

		release := s.HoldWatches("deployments")
		s.Edit(deploymentPath+"a", scale(2))
		hears()
		release()
		hears("update a")

		s.Delete(deploymentPath+"b", "")
		hears("delete b")

		// A watch that is cut goes on where it was.
		s.CutWatches("deployments")
		s.Add(deploymentPath+"c", withReplicas(1))
		time.Sleep(time.Minute) // longer than any back-off
		hears("add c")

		// One that finds its history gone lists again, and finds out what it has missed.
		release = s.HoldWatches("deployments")
		s.Delete(deploymentPath+"c", metav1.DeletePropagationBackground)
		s.Edit(deploymentPath+"a", scale(3))
		s.Compact()
		s.CutWatches("deployments")
		synctest.Wait()
		release()
		time.Sleep(time.Minute) // longer than any back-off
		hears("missed the end of default/c", "update a")
	})
}

func withReplicas(replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
}

func scale(replicas int64) func(*unstructured.Unstructured) {
	return func(deployment *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(deployment.Object, replicas, "spec", "replicas")
	}
}

// The garbage collector knows an owner by version, kind, name and UID. One that it cannot look up keeps
// the object; one that is there under its name, and is another, does not.
func TestGarbage(t *testing.T) {
	for _, test := range []struct {
		name      string
		owner     metav1.OwnerReference
		collected bool
	}{
		{"the owner is there", metav1.OwnerReference{Kind: "Deployment", Name: "a"}, false},
		{"it is gone", metav1.OwnerReference{Kind: "Deployment", Name: "b"}, true},
		{"another one has its name", metav1.OwnerReference{Kind: "Deployment", Name: "a", UID: "other"}, true},
		{"its kind is none", metav1.OwnerReference{Kind: "Deployments", Name: "b"}, false},
		{"its version is none", metav1.OwnerReference{APIVersion: "apps/v2", Kind: "Deployment", Name: "b"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := testkit.NewAPIServer()
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
