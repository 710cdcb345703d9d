package lab

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// newAPIServer returns a server that rejects the specs that the schema of a Foo rejects. Package crd, which
// reads the schema itself, would double the download.
func newAPIServer() *testkit.APIServer {
	resources := tests.Resources()
	for i := range resources {
		if resources[i].Plural == "foos" {
			resources[i].Admit = admit
		}
	}
	return testkit.NewAPIServer(resources...)
}

func admit(object *unstructured.Unstructured, _ []*unstructured.Unstructured) error {
	var foo v1alpha1.Foo
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &foo); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var wrong field.ErrorList
	spec := field.NewPath("spec")
	for _, why := range validation.IsDNS1123Subdomain(foo.Spec.DeploymentName) {
		wrong = append(wrong, field.Invalid(spec.Child("deploymentName"), foo.Spec.DeploymentName, why))
	}
	for _, why := range validation.IsInRange(int(ptr.Deref(foo.Spec.Replicas, 1)), 0, 10) {
		wrong = append(wrong, field.Invalid(spec.Child("replicas"), *foo.Spec.Replicas, why))
	}
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1alpha1.SchemeGroupVersion.WithKind("Foo").GroupKind(), foo.Name, wrong)
}
