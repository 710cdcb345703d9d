// Package kinds describes each kind for the observer: its names, a summary of an object, and the
// visible fields. main passes the description where it wires the kind.
package kinds

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/observe/observer"
)

var (
	Project = observer.Kind{
		GVK:      examplesv1alpha1.SchemeGroupVersion.WithKind("Project"),
		Resource: "projects",
		Describe: describe(project),
	}
	Foo = observer.Kind{
		GVK:      samplecontrollerv1alpha1.SchemeGroupVersion.WithKind("Foo"),
		Resource: "foos",
		Describe: describe(foo),
	}
	Deployment = observer.Kind{
		GVK:      appsv1.SchemeGroupVersion.WithKind("Deployment"),
		Resource: "deployments",
		Describe: describe(deployment),
		Owned:    true,
		Shown: observer.Fields{
			"spec": {"replicas": nil, "selector": nil, "template": {
				"metadata": {"labels": nil},
				"spec":     {"containers": {"name": nil, "image": nil}},
			}},
			"status": nil,
		},
	}
)

// All are the kinds that main wires.
var All = []observer.Kind{Project, Foo, Deployment}

func describe[T any](of func(T) string) func(any) string {
	return func(object any) string {
		if typed, ok := object.(T); ok {
			return of(typed)
		}
		return ""
	}
}

func project(project *examplesv1alpha1.Project) string {
	return fmt.Sprintf("replicas %d", project.Spec.Replicas)
}

func foo(foo *samplecontrollerv1alpha1.Foo) string {
	replicas, ready := "any", "no status yet"
	if foo.Spec.Replicas != nil {
		replicas = strconv.Itoa(int(*foo.Spec.Replicas))
	}
	if condition := meta.FindStatusCondition(foo.Status.Conditions, samplecontrollerv1alpha1.FooReady); condition != nil {
		ready = fmt.Sprintf("Ready %s, %s", condition.Status, condition.Message)
	}
	if foo.DeletionTimestamp != nil {
		ready = "being deleted"
	}
	return fmt.Sprintf("wants Deployment %s, replicas %s; %s", foo.Spec.DeploymentName, replicas, ready)
}

func deployment(deployment *appsv1.Deployment) string {
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	return fmt.Sprintf("%d of %d available", deployment.Status.AvailableReplicas, wanted)
}
