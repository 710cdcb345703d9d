package scenario

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/tools/judge/internal/court/stage"
)

// Actions of a user or another program. Each write is recorded in the history, so that it does not count as
// the program's.

func createFoo(name, deployment string, replicas int64) stage.Step {
	return MakeFoo(name, stage.Object{"deploymentName": deployment, "replicas": replicas})
}

// MakeFoo creates a Foo with any spec, or without one if it is nil.
func MakeFoo(name string, spec any, finalizers ...string) stage.Step {
	return func(s *stage.Stage) {
		f := &unstructured.Unstructured{Object: stage.Object{"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "Foo"}}
		f.SetName(name)
		f.SetFinalizers(finalizers)
		if spec != nil {
			f.Object["spec"] = spec
		}
		if s.Lax {
			path := "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/namespaces/" + s.Namespace + "/foos/" + name
			s.Api.Add(path, f)
			s.History.Wrote(s.Api.Get(path))
			return
		}
		s.History.Wrote(stage.Must(s.Foos(s.Namespace).Create(s.Ctx, f, metav1.CreateOptions{})))
	}
}

func patchFoo(name string, patch stage.Object) stage.Step {
	return func(s *stage.Stage) {
		s.History.Wrote(stage.Must(s.Foos(s.Namespace).Patch(s.Ctx, name, stage.MergePatch, stage.Encoded(patch), metav1.PatchOptions{})))
	}
}

func changeFoo(name string, spec stage.Object) stage.Step {
	return patchFoo(name, stage.Object{"spec": spec})
}

func DeleteFoo(name string, how metav1.DeletionPropagation) stage.Step {
	return func(s *stage.Stage) {
		s.History.WillRemove(stage.Must(s.Foos(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{})).GetUID())
		stage.Check(s.Foos(s.Namespace).Delete(s.Ctx, name, metav1.DeleteOptions{PropagationPolicy: &how}))
	}
}

func patchDeployment(name string, patch stage.Object) stage.Step {
	return func(s *stage.Stage) {
		s.History.Wrote(stage.Must(s.Kube.AppsV1().Deployments(s.Namespace).Patch(s.Ctx, name, types.StrategicMergePatchType, stage.Encoded(patch), metav1.PatchOptions{})))
	}
}

func changeImage(name string) stage.Step {
	return func(s *stage.Stage) {
		d := stage.Must(s.Kube.AppsV1().Deployments(s.Namespace).Get(s.Ctx, name, metav1.GetOptions{}))
		container := stage.Object{"name": d.Spec.Template.Spec.Containers[0].Name, "image": "example.com/another/image:1"}
		patchDeployment(name, stage.Object{"spec": stage.Object{"template": stage.Object{"spec": stage.Object{"containers": []stage.Object{container}}}}})(s)
	}
}

// createFooAgain creates a Foo that was just deleted. If a finalizer of the program keeps the old Foo, it is
// left.
func createFooAgain(name, deployment string, replicas int64) stage.Step {
	return func(s *stage.Stage) {
		var refused error
		if s.Await(5*time.Second, func() bool {
			refused = stage.Try(func() { createFoo(name, deployment, replicas)(s) })
			return !apierrors.IsAlreadyExists(refused)
		}) {
			stage.Check(refused)
		} else {
			s.Remark("Foo %s was not recreated: a finalizer keeps the old one", name)
		}
	}
}

func deleteDeployment(name string) stage.Step {
	return func(s *stage.Stage) {
		deployments := s.Kube.AppsV1().Deployments(s.Namespace)
		d, err := deployments.Get(s.Ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return
		}
		stage.Check(err)
		s.History.WillRemove(d.UID)
		stage.Check(deployments.Delete(s.Ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(d.UID)), PropagationPolicy: new(metav1.DeletePropagationBackground)}))
	}
}

// foreignDeployment creates a Deployment that is not the program's. If owned, a ConfigMap controls it.
func foreignDeployment(name string, owned bool) stage.Step {
	return func(s *stage.Stage) {
		d := theirDeployment(name)
		if owned {
			owner := stage.Must(s.Kube.CoreV1().ConfigMaps(s.Namespace).Create(s.Ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
			d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		}
		s.History.Wrote(stage.Must(s.Kube.AppsV1().Deployments(s.Namespace).Create(s.Ctx, d, metav1.CreateOptions{})))
	}
}

// theirDeployment returns a Deployment that no Foo asks for.
func theirDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "theirs", Image: "example.com/theirs:1"}}}}},
	}
}

func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
