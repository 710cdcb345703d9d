package story

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// DescribeProject says what a Project asks for.
func DescribeProject(project *examplesv1alpha1.Project) string {
	return fmt.Sprintf("replicas %d", project.Spec.Replicas)
}

// DescribeFoo says what a Foo asks for and how far it is.
func DescribeFoo(foo *samplecontrollerv1alpha1.Foo) string {
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

// DescribeDeployment says how far a Foo's Deployment is. It returns "" for the
// Deployments that are no Foo's.
func DescribeDeployment(deployment *appsv1.Deployment) string {
	owner := metav1.GetControllerOfNoCopy(deployment)
	if owner == nil || owner.Kind != "Foo" {
		return ""
	}
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	return fmt.Sprintf("of Foo %s, %d of %d available", owner.Name, deployment.Status.AvailableReplicas, wanted)
}
