package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	projectac "example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	fooac "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// clientKinds has one row for each kind, which all tests of clients go through.
var clientKinds = []interface {
	test(t *testing.T, s subject)
}{
	row[*examplesv1alpha1.Project, *examplesv1alpha1.ProjectList, *projectac.ProjectApplyConfiguration]{
		kind: "Project",
		in: func(c clientset.Interface, namespace string) client[*examplesv1alpha1.Project, *examplesv1alpha1.ProjectList, *projectac.ProjectApplyConfiguration] {
			return c.ExamplesV1alpha1().Projects(namespace)
		},
		object: func(name string) *examplesv1alpha1.Project {
			return &examplesv1alpha1.Project{ObjectMeta: named(name), Spec: examplesv1alpha1.ProjectSpec{Replicas: 1}}
		},
		applied: func(name string) *projectac.ProjectApplyConfiguration {
			project := projectac.Project(name, "")
			project.Spec = &projectac.ProjectSpecApplyConfiguration{Replicas: new(int32(1))}
			return project
		},
		edit:  func(project *examplesv1alpha1.Project) { project.Spec.Replicas = 2 },
		spoil: func(project *examplesv1alpha1.Project) { project.Spec.Replicas = -1 },
	},
	row[*samplecontrollerv1alpha1.Foo, *samplecontrollerv1alpha1.FooList, *fooac.FooApplyConfiguration]{
		kind: "Foo",
		in: func(c clientset.Interface, namespace string) client[*samplecontrollerv1alpha1.Foo, *samplecontrollerv1alpha1.FooList, *fooac.FooApplyConfiguration] {
			return c.SamplecontrollerV1alpha1().Foos(namespace)
		},
		object:  newFoo,
		applied: appliedFoo,
		edit:    func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.DeploymentName = "other" },
		spoil:   func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.DeploymentName = "../x" },
		status:  func(foo *samplecontrollerv1alpha1.Foo) { foo.Status.AvailableReplicas = 5 },
		more:    ofFoos,
	},
}

func newFoo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: named(name),
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "deployment", Replicas: new(int32(1))},
	}
}

func appliedFoo(name string) *fooac.FooApplyConfiguration {
	foo := fooac.Foo(name, "")
	foo.Spec = &fooac.FooSpecApplyConfiguration{DeploymentName: new("deployment"), Replicas: new(int32(1))}
	foo.Status = &fooac.FooStatusApplyConfiguration{AvailableReplicas: new(int32(5))}
	return foo
}

// named is the metadata of an object to create, with a label that List can select.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}
}
