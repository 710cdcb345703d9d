package clientset_test

import (
	"context"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	projectac "example.com/byhand/api/examples-gzh.com/v1alpha1/applyconfiguration"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	fooac "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// kinds is the wire table: one row for each kind, which all tests of this package go
// through.
var kinds = []kind{projects, foos}

type (
	project     = examplesv1alpha1.Project
	projectList = examplesv1alpha1.ProjectList
	foo         = samplecontrollerv1alpha1.Foo
	fooList     = samplecontrollerv1alpha1.FooList
)

var projects = resource[project, projectList, projectac.ProjectApplyConfiguration]{
	groupVersion: "examples-gzh.com/v1alpha1", kind: "Project", plural: "projects",
	in: func(c clientset.Interface, namespace string) verbs[project, projectList, projectac.ProjectApplyConfiguration] {
		return c.ExamplesV1alpha1().Projects(namespace)
	},
	object: &project{ObjectMeta: stored, Spec: examplesv1alpha1.ProjectSpec{Replicas: 2}},
	fields: `"spec": {"replicas": 2}`,
	list:   &projectList{ListMeta: page, Items: []project{{ObjectMeta: one}, {ObjectMeta: two}}},

	applied:       appliedProject(),
	appliedFields: `"metadata": {"name": "one", "namespace": "shop"}, "spec": {"replicas": 2}`,
}

var foos = resource[foo, fooList, fooac.FooApplyConfiguration]{
	groupVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo", plural: "foos",
	in: func(c clientset.Interface, namespace string) verbs[foo, fooList, fooac.FooApplyConfiguration] {
		return c.SamplecontrollerV1alpha1().Foos(namespace)
	},
	object: &foo{
		ObjectMeta: stored,
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(0))},
		Status:     samplecontrollerv1alpha1.FooStatus{Replicas: 2, Selector: "app=web"},
	},
	fields: `"spec": {"deploymentName": "web", "replicas": 0}, "status": {"replicas": 2, "availableReplicas": 0, "selector": "app=web"}`,
	list:   &fooList{ListMeta: page, Items: []foo{{ObjectMeta: one}, {ObjectMeta: two}}},

	// No replicas in the spec: a 0 would take them from their owner. Zeros in the
	// status are sent.
	applied: appliedFoo(),
	appliedFields: `"metadata": {"name": "one", "namespace": "shop", "labels": {"app": "web"}}, "spec": {"deploymentName": "web"},
		"status": {"replicas": 0, "availableReplicas": 0, "conditions": [{"type": "Ready"}]}`,
}

func appliedProject() *projectac.ProjectApplyConfiguration {
	project := projectac.Project("one", "shop")
	project.Spec = &projectac.ProjectSpecApplyConfiguration{Replicas: new(int32(2))}
	return project
}

func appliedFoo() *fooac.FooApplyConfiguration {
	foo := fooac.Foo("one", "shop")
	foo.Labels = map[string]string{"app": "web"}
	foo.Spec = &fooac.FooSpecApplyConfiguration{DeploymentName: new("web")}
	foo.Status = &fooac.FooStatusApplyConfiguration{Replicas: new(int32(0)), AvailableReplicas: new(int32(0)),
		Conditions: []metav1ac.ConditionApplyConfiguration{{Type: new("Ready")}}}
	return foo
}

// What the objects and the lists of all kinds hold.
var (
	stored   = metav1.ObjectMeta{Namespace: "shop", Name: "one", ResourceVersion: "7"}
	page     = metav1.ListMeta{ResourceVersion: "9", Continue: "more"}
	one, two = metav1.ObjectMeta{Name: "one"}, metav1.ObjectMeta{Name: "two"}
)

// resource is all that differs between two kinds. T is the object, L its list, A its
// apply configuration.
type resource[T, L, A any] struct {
	groupVersion, kind, plural string
	// in returns the client for a namespace, or for all if namespace is "".
	in func(c clientset.Interface, namespace string) verbs[T, L, A]
	// An object named stored as Go has it, and what the wire has beside the metadata.
	object *T
	fields string
	// list holds page, one and two.
	list *L
	// A server-side apply as Go has it, and what the wire has beside the kind.
	applied       *A
	appliedFields string
}

// verbs is what the clients of all kinds have in common.
type verbs[T, L, A any] interface {
	Create(ctx context.Context, object *T, opts metav1.CreateOptions) (*T, error)
	Update(ctx context.Context, object *T, opts metav1.UpdateOptions) (*T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*T, error)
	List(ctx context.Context, opts metav1.ListOptions) (*L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*T, error)
	Apply(ctx context.Context, object *A, opts metav1.ApplyOptions) (*T, error)
}

// statusVerbs are those of a kind that has a status.
type statusVerbs[T, A any] interface {
	UpdateStatus(ctx context.Context, object *T, opts metav1.UpdateOptions) (*T, error)
	ApplyStatus(ctx context.Context, object *A, opts metav1.ApplyOptions) (*T, error)
}

// scaleVerbs are those of a kind that can be scaled.
type scaleVerbs interface {
	GetScale(ctx context.Context, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error)
	UpdateScale(ctx context.Context, name string, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error)
}

// The URL paths of all objects, of those in namespace shop, and of one of them.
func (r resource[T, L, A]) everywhere() string { return "/apis/" + r.groupVersion + "/" + r.plural }
func (r resource[T, L, A]) collection() string {
	return "/apis/" + r.groupVersion + "/namespaces/shop/" + r.plural
}
func (r resource[T, L, A]) item() string { return r.collection() + "/one" }

// The bodies: an object, a list, and an apply.
func (r resource[T, L, A]) objectWire() string {
	return r.typed("", `"metadata": {"namespace": "shop", "name": "one", "resourceVersion": "7"}, `+r.fields)
}
func (r resource[T, L, A]) listWire() string {
	return r.typed("List", `"metadata": {"resourceVersion": "9", "continue": "more"}, "items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]`)
}
func (r resource[T, L, A]) appliedWire() string { return r.typed("", r.appliedFields) }
func (r resource[T, L, A]) typed(suffix, fields string) string {
	return `{"apiVersion": "` + r.groupVersion + `", "kind": "` + r.kind + suffix + `", ` + fields + `}`
}

// kind is a resource of whatever types. Its methods are the tests that hold for every
// kind, and what they need.
type kind interface {
	name() string
	groupVersionKind() schema.GroupVersionKind

	testRequests(t *testing.T)
	testFailedCallReturnsEmptyObject(t *testing.T)
	testEmptyNameIsRefused(t *testing.T)
	testNilObjects(t *testing.T)
	testCBOR(t *testing.T)
	testWatchDecodesEvents(t *testing.T)
}

func (r resource[T, L, A]) name() string { return r.plural }

func (r resource[T, L, A]) groupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.groupVersion, r.kind)
}

func eachKind(t *testing.T, test func(k kind, t *testing.T)) {
	for _, k := range kinds {
		t.Run(k.name(), func(t *testing.T) { test(k, t) })
	}
}
