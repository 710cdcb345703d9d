package court

import (
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// What a user does, or another program. Each write is noted in the history, so
// that it is not taken for the program's.

// createFoo creates a Foo.
func createFoo(name, deployment string, replicas int64) step {
	return makeFoo(name, object{"deploymentName": deployment, "replicas": replicas})
}

// makeFoo creates a Foo with any spec, or none.
func makeFoo(name string, spec any, finalizers ...string) step {
	return func(s *stage) {
		f := &unstructured.Unstructured{Object: object{"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "Foo"}}
		f.SetName(name)
		f.SetFinalizers(finalizers)
		if spec != nil {
			f.Object["spec"] = spec
		}
		if s.lax {
			path := "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/namespaces/" + s.namespace + "/foos/" + name
			s.api.Add(path, f)
			s.history.wrote(s.api.Get(path))
			return
		}
		s.history.wrote(must(s.foos(s.namespace).Create(s.ctx, f, metav1.CreateOptions{})))
	}
}

// patchFoo changes a Foo.
func patchFoo(name string, patch object) step {
	return func(s *stage) {
		s.history.wrote(must(s.foos(s.namespace).Patch(s.ctx, name, mergePatch, encoded(patch), metav1.PatchOptions{})))
	}
}

// changeFoo changes the spec of a Foo.
func changeFoo(name string, spec object) step { return patchFoo(name, object{"spec": spec}) }

// deleteFoo deletes a Foo.
func deleteFoo(name string, how metav1.DeletionPropagation) step {
	return func(s *stage) {
		s.history.willRemove(must(s.foos(s.namespace).Get(s.ctx, name, metav1.GetOptions{})).GetUID())
		check(s.foos(s.namespace).Delete(s.ctx, name, metav1.DeleteOptions{PropagationPolicy: &how}))
	}
}

// patchDeployment changes a Deployment, as a person does who has the right.
func patchDeployment(name string, patch object) step {
	return func(s *stage) {
		s.history.wrote(must(s.kube.AppsV1().Deployments(s.namespace).Patch(s.ctx, name, types.StrategicMergePatchType, encoded(patch), metav1.PatchOptions{})))
	}
}

// changeImage gives the first container of a Deployment another image.
func changeImage(name string) step {
	return func(s *stage) {
		d := must(s.kube.AppsV1().Deployments(s.namespace).Get(s.ctx, name, metav1.GetOptions{}))
		container := object{"name": d.Spec.Template.Spec.Containers[0].Name, "image": "example.com/another/image:1"}
		patchDeployment(name, object{"spec": object{"template": object{"spec": object{"containers": []object{container}}}}})(s)
	}
}

// createFooAgain creates a Foo that was just deleted. If a finalizer of the program holds the
// old one, that one stays.
func createFooAgain(name, deployment string, replicas int64) step {
	return func(s *stage) {
		var refused error
		if s.await(5*time.Second, func() bool {
			refused = try(func() { createFoo(name, deployment, replicas)(s) })
			return !apierrors.IsAlreadyExists(refused)
		}) {
			check(refused)
		} else {
			s.remark("Foo %s was not created again: a finalizer holds the old one", name)
		}
	}
}

// deleteDeployment deletes a Deployment, if it is there.
func deleteDeployment(name string) step {
	return func(s *stage) {
		deployments := s.kube.AppsV1().Deployments(s.namespace)
		d, err := deployments.Get(s.ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return
		}
		check(err)
		s.history.willRemove(d.UID)
		check(deployments.Delete(s.ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(d.UID)), PropagationPolicy: new(metav1.DeletePropagationBackground)}))
	}
}

// foreignDeployment creates a Deployment that is not the program's, and if owned, one that
// a ConfigMap controls.
func foreignDeployment(name string, owned bool) step {
	return func(s *stage) {
		d := theirDeployment(name)
		if owned {
			owner := must(s.kube.CoreV1().ConfigMaps(s.namespace).Create(s.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
			d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		}
		s.history.wrote(must(s.kube.AppsV1().Deployments(s.namespace).Create(s.ctx, d, metav1.CreateOptions{})))
	}
}

// theirDeployment is one that no Foo asks for.
func theirDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "theirs", Image: "example.com/theirs:1"}}}}},
	}
}

func encoded(patch any) []byte { return must(json.Marshal(patch)) }

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
