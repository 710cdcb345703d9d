package controller

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// fooKind stands in the owner references of our Deployments. It is a constant:
// objects that a client returns have no apiVersion and kind of their own.
var fooKind = v1alpha1.SchemeGroupVersion.WithKind("Foo")

// uidLabel ties Pods to their Foo. Its value is the UID and not the name: a label
// value holds 63 characters, a name may have 253.
const uidLabel = v1alpha1.GroupName + "/foo-uid"

// The container of each Deployment.
const (
	containerName  = "nginx"
	containerImage = "nginx:1.29"
)

func podLabels(foo *v1alpha1.Foo) map[string]string {
	return map[string]string{uidLabel: string(foo.UID)}
}

// newDeployment is the Deployment of a Foo that has none.
func newDeployment(foo *v1alpha1.Foo) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      foo.Spec.DeploymentName,
			Namespace: foo.Namespace,
			// Makes it ours, and the garbage collector's when the Foo is deleted.
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, fooKind)},
		},
		// The selector can never be changed afterwards.
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: podLabels(foo)}},
	}
	setOurFields(deployment, foo)
	setGeneration(deployment, foo)
	return deployment
}

// setOurFields sets all that a Foo decides about its Deployment, and nothing
// else: what defaults, autoscalers and people add stays as it is. It reports
// whether anything was different before. To compare two whole Deployments by
// reflection instead takes ten times as long (BenchmarkChanged).
func setOurFields(deployment *appsv1.Deployment, foo *v1alpha1.Foo) (different bool) {
	// nil leaves the number to somebody else.
	if now, wanted := deployment.Spec.Replicas, foo.Spec.Replicas; wanted != nil && (now == nil || *now != *wanted) {
		deployment.Spec.Replicas, different = new(*wanted), true
	}
	template := &deployment.Spec.Template
	for label, value := range podLabels(foo) {
		if template.Labels[label] != value {
			metav1.SetMetaDataLabel(&template.ObjectMeta, label, value)
			different = true
		}
	}
	containers := &template.Spec.Containers
	ours := slices.IndexFunc(*containers, func(c corev1.Container) bool { return c.Name == containerName })
	if ours < 0 {
		ours = len(*containers)
		*containers = append(*containers, corev1.Container{Name: containerName})
	}
	if container := &(*containers)[ours]; container.Image != containerImage {
		container.Image, different = containerImage, true
	}
	return different
}

// changed returns a copy of the stored Deployment with our fields as they should
// be, or nil if they are. The copy keeps its resourceVersion, so the server
// refuses it if somebody wrote in between.
func changed(stored *appsv1.Deployment, foo *v1alpha1.Foo) *appsv1.Deployment {
	wanted := stored.DeepCopy()
	if !setOurFields(wanted, foo) && !ahead(stored, foo) {
		return nil
	}
	setGeneration(wanted, foo)
	return wanted
}

// ownership is what a Deployment is to the Foo that names it.
type ownership int

const (
	ours    ownership = iota // controlled by this Foo
	leaving                  // on its way out, and it was a Foo's of this name
	foreign                  // somebody else's, or nobody's
)

// owner tells by UID alone. Names come back: a Foo that was deleted and made anew
// is not the one that the old Deployment belongs to.
func owner(deployment *appsv1.Deployment, foo *v1alpha1.Foo) ownership {
	controller := metav1.GetControllerOfNoCopy(deployment)
	switch {
	case controller == nil:
		return foreign
	case controller.UID == foo.UID && deployment.DeletionTimestamp == nil:
		return ours
	case controller.UID == foo.UID:
		return leaving
	case isFoo(controller) && controller.Name == foo.Name:
		return leaving // its Foo is gone, the garbage collector is about to remove it
	default:
		return foreign
	}
}

// problemOf says what makes a spec impossible, or "". The schema refuses all of
// these; a cluster may have another schema.
func problemOf(foo *v1alpha1.Foo) string {
	if len(validation.NameIsDNSSubdomain(foo.Spec.DeploymentName, false)) > 0 {
		return fmt.Sprintf("spec.deploymentName: %q is not a name that a Deployment can have", foo.Spec.DeploymentName)
	}
	if foo.Spec.Replicas != nil && *foo.Spec.Replicas < 0 {
		return fmt.Sprintf("spec.replicas: %d is less than 0", *foo.Spec.Replicas)
	}
	return ""
}

// allButLast returns the Deployments without the one that was made from the newest
// generation of their Foo, and without those that are on their way out.
func allButLast(owned []*appsv1.Deployment) []*appsv1.Deployment {
	standing := slices.DeleteFunc(slices.Clone(owned), func(d *appsv1.Deployment) bool { return d.DeletionTimestamp != nil })
	slices.SortFunc(standing, func(a, b *appsv1.Deployment) int { return cmp.Compare(generationOf(a), generationOf(b)) })
	return standing[:max(len(standing)-1, 0)]
}
