package fake_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/informer"
)

const deadline = 10 * time.Second

func foo(name string) *v1alpha1.Foo {
	return &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.FooSpec{DeploymentName: name}}
}

func TestActions(t *testing.T) {
	want := map[string]string{
		"Create": "create", "Update": "update", "UpdateStatus": "update status", "Delete": "delete", "DeleteCollection": "delete-collection",
		"Get": "get", "List": "list", "Watch": "watch", "Patch": "patch", "Apply": "patch", "ApplyStatus": "patch status",
	}
	client := fake.NewClientset()
	groups := reflect.TypeFor[clientset.Interface]()
	for i := range groups.NumMethod() {
		group := reflect.ValueOf(client).MethodByName(groups.Method(i).Name).Call(nil)[0].Elem()
		for j := range group.NumMethod() {
			plural := group.Type().Method(j).Name
			if group.Method(j).Type().NumIn() != 1 || groups.Method(i).Name == "Discovery" {
				continue // not a kind
			}
			kind := group.Method(j).Call([]reflect.Value{reflect.ValueOf("default")})[0]
			for k := range kind.NumMethod() {
				method := kind.Type().Method(k).Name
				client.ClearActions()
				kind.Method(k).Call(arguments(kind.Method(k).Type()))
				action := client.Actions()[0]
				got := strings.TrimSpace(action.GetVerb() + " " + action.GetSubresource())
				if got != want[method] || action.GetResource().Resource != strings.ToLower(plural) || action.GetNamespace() != "default" {
					t.Errorf("%s of %s is recorded as %q of %s in %q, want %q", method, plural, got, action.GetResource().Resource, action.GetNamespace(), want[method])
				}
			}
		}
	}
}

// arguments returns valid arguments for a method: every object has a name.
func arguments(method reflect.Type) (all []reflect.Value) {
	for i := range method.NumIn() {
		switch in := method.In(i); {
		case in == reflect.TypeFor[context.Context]():
			all = append(all, reflect.ValueOf(context.Background()))
		case in.Kind() == reflect.Pointer:
			object := reflect.New(in.Elem())
			for _, setter := range []string{"SetName", "WithName"} {
				if set := object.MethodByName(setter); set.IsValid() {
					set.Call([]reflect.Value{reflect.ValueOf("one")})
				}
			}
			all = append(all, object)
		case method.IsVariadic() && i == method.NumIn()-1:
		default:
			all = append(all, reflect.Zero(in))
		}
	}
	return all
}

// A prepended reactor determines the result of a call.
func TestReactor(t *testing.T) {
	client := fake.NewClientset(foo("one"))
	refused := apierrors.NewConflict(v1alpha1.Resource("foos"), "one", errors.New("injected"))
	client.PrependReactor("update", "foos", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
	got, err := client.SamplecontrollerV1alpha1().Foos("default").Update(context.Background(), foo("one"), metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) || got == nil {
		t.Errorf("Update: %v, %v; want an empty Foo and the injected Conflict", got, err)
	}
	if _, err := client.SamplecontrollerV1alpha1().Foos("default").Get(context.Background(), "one", metav1.GetOptions{}); err != nil {
		t.Errorf("Get, which has no reactor: %v", err)
	}
}

// The fake behaves like an API server, or returns an error.
func TestLikeAServer(t *testing.T) {
	ctx, stored := t.Context(), foo("one")
	stored.UID = "old"
	foos := fake.NewClientset(stored).SamplecontrollerV1alpha1().Foos("default")

	generated := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{GenerateName: "foo-"}}
	first, err := foos.Create(ctx, generated, metav1.CreateOptions{})
	second, err2 := foos.Create(ctx, generated, metav1.CreateOptions{})
	if err := errors.Join(err, err2); err != nil || !strings.HasPrefix(first.Name, "foo-") || first.Name == "foo-" || second.Name == first.Name {
		t.Errorf("generateName twice: %q and %q (%v), want two names", first.Name, second.Name, err)
	}
	if err := foos.Delete(ctx, "one", *metav1.NewPreconditionDeleteOptions("new")); !apierrors.IsConflict(err) {
		t.Errorf("Delete with another UID: %v, want a Conflict", err)
	}
	if err := foos.Delete(ctx, "one", *metav1.NewRVDeletionPrecondition("9")); !apierrors.IsConflict(err) {
		t.Errorf("Delete with another resourceVersion: %v, want a Conflict", err)
	}
	if err := foos.Delete(ctx, "one", *metav1.NewPreconditionDeleteOptions("old")); err != nil {
		t.Errorf("Delete with the same UID: %v", err)
	}

	noName := func(call string, err error) {
		if err == nil || !strings.Contains(err.Error(), "name may not be empty") {
			t.Errorf("%s without a name: %v", call, err)
		}
	}
	_, err = foos.Get(ctx, "", metav1.GetOptions{})
	noName("Get", err)
	_, err = foos.Create(ctx, &v1alpha1.Foo{}, metav1.CreateOptions{})
	noName("Create", err)
	_, err = foos.Update(ctx, &v1alpha1.Foo{}, metav1.UpdateOptions{})
	noName("Update", err)
	_, err = foos.Patch(ctx, "", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	noName("Patch", err)
	_, err = foos.Apply(ctx, applyconfiguration.Foo("", "default"), metav1.ApplyOptions{FieldManager: "test"})
	noName("Apply", err)
	noName("Delete", foos.Delete(ctx, "", metav1.DeleteOptions{}))

	for _, broken := range []metav1.ListOptions{{LabelSelector: "a==="}, {FieldSelector: "a"}} {
		_, list := foos.List(ctx, broken)
		_, watch := foos.Watch(ctx, broken)
		for call, err := range map[string]error{"List": list, "Watch": watch, "DeleteCollection": foos.DeleteCollection(ctx, metav1.DeleteOptions{}, broken)} {
			if !apierrors.IsBadRequest(err) {
				t.Errorf("%s with %+v: %v, want 400", call, broken, err)
			}
		}
	}
}

func TestNewClientsetPanics(t *testing.T) {
	for reason, objects := range map[string][]runtime.Object{
		"twice":   {foo("one"), foo("one")},
		"unknown": {&metav1.PartialObjectMetadata{}},
	} {
		t.Run(reason, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			fake.NewClientset(objects...)
		})
	}
}

// The fake reports that it does not support streaming lists. Otherwise a Reflector would wait forever.
func TestInformerSyncs(t *testing.T) {
	client := fake.NewClientset(foo("one"), &examplesv1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "project"}})
	added := make(chan string, 10)
	foos := informer.NewFoos(client, "", 0, cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { added <- obj.(*v1alpha1.Foo).Name }})
	projects := informer.NewProjects(client, "", 0, cache.ResourceEventHandlerFuncs{})
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	go foos.Run(ctx)
	go projects.Run(ctx)
	if err := informer.WaitForSync(ctx, deadline, foos, projects); err != nil {
		t.Fatal(err)
	}
	if _, err := client.SamplecontrollerV1alpha1().Foos("default").Create(ctx, foo("two"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		select {
		case got := <-added:
			if got != want {
				t.Errorf("the event is for %s, want %s", got, want)
			}
		case <-time.After(deadline):
			t.Fatalf("no event for %s", want)
		}
	}
	if got := len(projects.Store.List()); got != 1 {
		t.Errorf("%d Projects in the store, want 1", got)
	}
}

// A test of code that reads and writes Foos needs no server.
func Example() {
	client := fake.NewClientset(&v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo"},
		Spec:       v1alpha1.FooSpec{DeploymentName: "deployment"},
	})
	foos := client.SamplecontrollerV1alpha1().Foos("default")
	foo, err := foos.Get(context.Background(), "foo", metav1.GetOptions{})
	fmt.Println(foo.Spec.DeploymentName, err)
	_, err = foos.Get(context.Background(), "bar", metav1.GetOptions{})
	fmt.Println(err)
	for _, action := range client.Actions() {
		fmt.Println(action.GetVerb(), action.GetResource().Resource)
	}
	// Output:
	// deployment <nil>
	// foos.samplecontroller.k8s.io "bar" not found
	// get foos
	// get foos
}
