// Package samples has one row for each kind of ours, with all that the tests of clients,
// fakes and informers need of it.
package samples

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	projectac "example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	fooac "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
	"example.com/byhand/informer"
)

// Kind is a row. Tests share its objects: they change copies.
type Kind struct {
	schema.GroupVersionKind
	Plural string
	// Client returns the client for a namespace, or for all of them if it is "". See Call.
	Client func(c clientset.Interface, namespace string) any
	// Informer is the constructor.
	Informer func(client clientset.Interface, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *informer.Informer

	// Object has the metadata Stored, and JSON is its wire format without kind and metadata.
	Object Object
	JSON   string
	// List has the metadata Page, and objects that have nothing but the names one and two.
	List runtime.Object
	// Applied is an apply configuration, and AppliedJSON its wire format without the kind.
	Applied     any
	AppliedJSON string

	// Merge patches: Edit changes the spec, and Spoil makes it one that the schema refuses.
	Edit, Spoil string
}

// Object is one of any kind.
type Object interface {
	runtime.Object
	metav1.Object
}

// The metadata of the objects and lists of all kinds.
var (
	Stored   = metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"}
	Page     = metav1.ListMeta{ResourceVersion: "9", Continue: "more"}
	one, two = metav1.ObjectMeta{Name: "one"}, metav1.ObjectMeta{Name: "two"}
)

// All are all kinds.
var All = []Kind{Project, Foo}

// Project is the row of Projects.
var Project = Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "examples-gzh.com", Version: "v1alpha1", Kind: "Project"},
	Plural:           "projects",
	Client:           func(c clientset.Interface, namespace string) any { return c.ExamplesV1alpha1().Projects(namespace) },
	Informer:         informer.NewProjects,

	Object: &examplesv1alpha1.Project{ObjectMeta: Stored, Spec: examplesv1alpha1.ProjectSpec{Replicas: 2}},
	JSON:   `"spec": {"replicas": 2}`,
	List:   &examplesv1alpha1.ProjectList{ListMeta: Page, Items: []examplesv1alpha1.Project{{ObjectMeta: one}, {ObjectMeta: two}}},

	Applied:     appliedProject(),
	AppliedJSON: `"metadata": {"name": "one", "namespace": "shop"}, "spec": {"replicas": 2}`,

	Edit:  `{"spec": {"replicas": 3}}`,
	Spoil: `{"spec": {"replicas": -1}}`,
}

func appliedProject() *projectac.ProjectApplyConfiguration {
	project := projectac.Project("one", "shop")
	project.Spec = &projectac.ProjectSpecApplyConfiguration{Replicas: new(int32(2))}
	return project
}

// Foo is the row of Foos.
var Foo = Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Kind: "Foo"},
	Plural:           "foos",
	Client:           func(c clientset.Interface, namespace string) any { return c.SamplecontrollerV1alpha1().Foos(namespace) },
	Informer:         informer.NewFoos,

	Object: &samplecontrollerv1alpha1.Foo{
		ObjectMeta: Stored,
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(0))},
		Status:     samplecontrollerv1alpha1.FooStatus{Replicas: 2, Selector: "app=web"},
	},
	JSON: `"spec": {"deploymentName": "web", "replicas": 0}, "status": {"replicas": 2, "availableReplicas": 0, "selector": "app=web"}`,
	List: &samplecontrollerv1alpha1.FooList{ListMeta: Page, Items: []samplecontrollerv1alpha1.Foo{{ObjectMeta: one}, {ObjectMeta: two}}},

	// No replicas in the spec: a 0 would take them from their owner. Zeros in the status
	// are sent.
	Applied: appliedFoo(),
	AppliedJSON: `"metadata": {"name": "one", "namespace": "shop", "labels": {"app": "web"}}, "spec": {"deploymentName": "web"},
		"status": {"replicas": 0, "availableReplicas": 0, "conditions": [{"type": "Ready"}]}`,

	Edit:  `{"spec": {"deploymentName": "other"}}`,
	Spoil: `{"spec": {"deploymentName": "../x"}}`,
}

func appliedFoo() *fooac.FooApplyConfiguration {
	foo := fooac.Foo("one", "shop")
	foo.Labels = map[string]string{"app": "web"}
	foo.Spec = &fooac.FooSpecApplyConfiguration{DeploymentName: new("web")}
	foo.Status = &fooac.FooStatusApplyConfiguration{Replicas: new(int32(0)), AvailableReplicas: new(int32(0)),
		Conditions: []metav1ac.ConditionApplyConfiguration{{Type: new("Ready")}}}
	return foo
}

// Has reports whether a client has a method.
func Has(client any, method string) bool {
	return reflect.ValueOf(client).MethodByName(method).IsValid()
}

// Call calls a method of a client by its name, because the clients of two kinds have no type
// in common. nil is the zero value of whatever type the method takes. result is nil if the
// method returns an error alone.
func Call(ctx context.Context, client any, method string, arguments ...any) (result any, err error) {
	function := reflect.ValueOf(client).MethodByName(method)
	values := []reflect.Value{reflect.ValueOf(ctx)}
	for i, argument := range arguments {
		value := reflect.ValueOf(argument)
		if argument == nil {
			value = reflect.Zero(function.Type().In(i + 1))
		}
		values = append(values, value)
	}
	results := function.Call(values)
	err, _ = results[len(results)-1].Interface().(error)
	if len(results) == 1 {
		return nil, err
	}
	return results[0].Interface(), err
}
