// Package behaviour holds what every clientset.Interface must do, whatever stands
// behind it, as tests that run against any: a fake, a real API server. Where the
// fake differs on purpose, a test says so and checks both sides.
package behaviour

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// deadline is how long a test waits for a watch event.
const deadline = 30 * time.Second

// Subject is a clientset under test.
type Subject struct {
	Client clientset.Interface
	// Namespace returns an empty namespace.
	Namespace func(t *testing.T) string
	// Real says that an API server with our CRDs stands behind it, which enforces
	// rules that a fake does not know.
	Real bool
}

// Test runs every test.
func Test(t *testing.T, s Subject) {
	for name, test := range map[string]func(t *testing.T, s Subject, foos clientset.FooInterface){
		"create and get":    createAndGet,
		"update":            update,
		"status":            status,
		"stale update":      staleUpdate,
		"invalid":           invalid,
		"delete":            remove,
		"list":              list,
		"delete collection": deleteCollection,
		"patch":             patch,
		"apply":             apply,
		"watch":             watchChanges,
		"scale":             scale,
		"unset replicas":    unsetReplicas,
		"what is not there": notThere,
		"namespaces":        namespaces,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, s, s.Client.SamplecontrollerV1alpha1().Foos(s.Namespace(t)))
		})
	}
}

// foo is a Foo to create, with a label that List can select.
func foo(name string) *v1alpha1.Foo {
	return &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}},
		Spec:       v1alpha1.FooSpec{DeploymentName: "deployment", Replicas: new(int32(1))},
	}
}

// must returns the result of a call that may not fail.
func must(t *testing.T) func(foo *v1alpha1.Foo, err error) *v1alpha1.Foo {
	return func(foo *v1alpha1.Foo, err error) *v1alpha1.Foo {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return foo
	}
}

func createAndGet(t *testing.T, s Subject, foos clientset.FooInterface) {
	created := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	got := must(t)(foos.Get(t.Context(), "one", metav1.GetOptions{}))
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("what Get returns differs from what Create did (-create +get):\n%s", diff)
	}
	if diff := cmp.Diff(foo("one").Spec, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if set := got.UID != "" && got.ResourceVersion != "" && got.Generation == 1; set != s.Real {
		t.Errorf("uid %q, resourceVersion %q, generation %d: only a real server sets them", got.UID, got.ResourceVersion, got.Generation)
	}
	if _, err := foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the second Create: error %v, want AlreadyExists", err)
	}
}

func update(t *testing.T, s Subject, foos clientset.FooInterface) {
	one := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	one.Spec.Replicas = nil
	one.Spec.DeploymentName = "other"
	updated := must(t)(foos.Update(t.Context(), one, metav1.UpdateOptions{}))
	got := must(t)(foos.Get(t.Context(), "one", metav1.GetOptions{}))
	if diff := cmp.Diff(updated, got); diff != "" {
		t.Errorf("what Get returns differs from what Update did (-update +get):\n%s", diff)
	}
	if got.Spec.DeploymentName != "other" || got.Spec.Replicas != nil {
		t.Errorf("spec %+v, want the one that was sent", got.Spec)
	}
}

// On a real server Update leaves the status alone and UpdateStatus the spec. The
// fake stores what it gets, whole.
func status(t *testing.T, s Subject, foos clientset.FooInterface) {
	one := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	one.Status.AvailableReplicas = 7
	one = must(t)(foos.Update(t.Context(), one, metav1.UpdateOptions{}))
	if kept := one.Status.AvailableReplicas == 0; kept != s.Real {
		t.Errorf("availableReplicas %d after Update", one.Status.AvailableReplicas)
	}
	one.Status.AvailableReplicas, one.Spec.DeploymentName = 5, "other"
	one = must(t)(foos.UpdateStatus(t.Context(), one, metav1.UpdateOptions{}))
	if one.Status.AvailableReplicas != 5 {
		t.Errorf("availableReplicas %d after UpdateStatus, want 5", one.Status.AvailableReplicas)
	}
	if kept := one.Spec.DeploymentName == "deployment"; kept != s.Real {
		t.Errorf("deploymentName %q after UpdateStatus", one.Spec.DeploymentName)
	}
}

// A real server refuses to overwrite what the writer has not seen.
func staleUpdate(t *testing.T, s Subject, foos clientset.FooInterface) {
	stale := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	newer := stale.DeepCopy()
	newer.Labels["changed"] = "yes"
	must(t)(foos.Update(t.Context(), newer, metav1.UpdateOptions{}))
	if _, err := foos.Update(t.Context(), stale, metav1.UpdateOptions{}); apierrors.IsConflict(err) != s.Real {
		t.Errorf("error %v", err)
	}
}

// A real server knows the schema.
func invalid(t *testing.T, s Subject, foos clientset.FooInterface) {
	bad := foo("bad")
	bad.Spec.DeploymentName = "../x"
	if _, err := foos.Create(t.Context(), bad, metav1.CreateOptions{}); apierrors.IsInvalid(err) != s.Real {
		t.Errorf("error %v", err)
	}
}

func remove(t *testing.T, _ Subject, foos clientset.FooInterface) {
	must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	if err := foos.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := foos.Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get after Delete: error %v, want NotFound", err)
	}
}

// names returns the names of the Foos that a list selects.
func names(t *testing.T, foos clientset.FooInterface, opts metav1.ListOptions) []string {
	t.Helper()
	listed, err := foos.List(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range listed.Items {
		names = append(names, item.Name)
	}
	return names
}

func list(t *testing.T, _ Subject, foos clientset.FooInterface) {
	if got := names(t, foos, metav1.ListOptions{}); got != nil {
		t.Errorf("an empty namespace lists %v", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		must(t)(foos.Create(t.Context(), foo(name), metav1.CreateOptions{}))
	}
	for selector, want := range map[string][]string{"": {"a", "b", "c"}, "name=b": {"b"}, "name!=b": {"a", "c"}, "name=d": nil} {
		if diff := cmp.Diff(want, names(t, foos, metav1.ListOptions{LabelSelector: selector})); diff != "" {
			t.Errorf("selector %q (-want +got):\n%s", selector, diff)
		}
	}
}

func deleteCollection(t *testing.T, _ Subject, foos clientset.FooInterface) {
	for _, name := range []string{"a", "b"} {
		must(t)(foos.Create(t.Context(), foo(name), metav1.CreateOptions{}))
	}
	if err := foos.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name=a"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, names(t, foos, metav1.ListOptions{})); diff != "" {
		t.Errorf("left over (-want +got):\n%s", diff)
	}
}

func patch(t *testing.T, _ Subject, foos clientset.FooInterface) {
	must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	merged := must(t)(foos.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}))
	if *merged.Spec.Replicas != 4 || merged.Spec.DeploymentName != "deployment" {
		t.Errorf("spec %+v after a merge patch of replicas", merged.Spec)
	}
	edited := must(t)(foos.Patch(t.Context(), "one", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/replicas"}]`), metav1.PatchOptions{}))
	if edited.Spec.Replicas != nil {
		t.Errorf("replicas %d after a JSON patch that removes them", *edited.Spec.Replicas)
	}
}

func apply(t *testing.T, _ Subject, foos clientset.FooInterface) {
	opts := metav1.ApplyOptions{FieldManager: "test"}
	created := must(t)(foos.Apply(t.Context(), applyconfiguration.Foo("one", "").WithSpec(
		applyconfiguration.FooSpec().WithDeploymentName("deployment").WithReplicas(2)), opts))
	if created.Spec.DeploymentName != "deployment" || *created.Spec.Replicas != 2 {
		t.Errorf("spec %+v after the first Apply", created.Spec)
	}
	// A field that its only owner no longer sends is removed.
	dropped := must(t)(foos.Apply(t.Context(), applyconfiguration.Foo("one", "").WithSpec(
		applyconfiguration.FooSpec().WithDeploymentName("deployment")), opts))
	if dropped.Spec.Replicas != nil {
		t.Errorf("replicas %d after an Apply without them", *dropped.Spec.Replicas)
	}
	applied := must(t)(foos.ApplyStatus(t.Context(), applyconfiguration.Foo("one", "").WithStatus(
		applyconfiguration.FooStatus().WithAvailableReplicas(3)), opts))
	if applied.Status.AvailableReplicas != 3 {
		t.Errorf("availableReplicas %d after ApplyStatus, want 3", applied.Status.AvailableReplicas)
	}
}

func watchChanges(t *testing.T, _ Subject, foos clientset.FooInterface) {
	stream, err := foos.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	next := func(want watch.EventType) *v1alpha1.Foo {
		t.Helper()
		select {
		case event, open := <-stream.ResultChan():
			got, ok := event.Object.(*v1alpha1.Foo)
			if !open || !ok || event.Type != want {
				t.Fatalf("event %s with %T (open: %t), want %s with a Foo", event.Type, event.Object, open, want)
			}
			return got
		case <-time.After(deadline):
			t.Fatalf("no %s for %s", want, deadline)
			return nil
		}
	}
	one := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	if got := next(watch.Added); got.Name != "one" {
		t.Errorf("added %q", got.Name)
	}
	one.Spec.DeploymentName = "other"
	must(t)(foos.Update(t.Context(), one, metav1.UpdateOptions{}))
	if got := next(watch.Modified); got.Spec.DeploymentName != "other" {
		t.Errorf("modified spec %+v", got.Spec)
	}
	if err := foos.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := next(watch.Deleted); got.Name != "one" {
		t.Errorf("deleted %q", got.Name)
	}
}

func scale(t *testing.T, _ Subject, foos clientset.FooInterface) {
	one := must(t)(foos.Create(t.Context(), foo("one"), metav1.CreateOptions{}))
	one.Status = v1alpha1.FooStatus{Replicas: 3, AvailableReplicas: 2, Selector: "a=b"}
	must(t)(foos.UpdateStatus(t.Context(), one, metav1.UpdateOptions{}))
	got, err := foos.GetScale(t.Context(), "one", metav1.GetOptions{})
	if err != nil || got.Name != "one" || got.Spec.Replicas != 1 {
		t.Fatalf("scale %+v (%v), want the Foo's 1 replica", got, err)
	}
	if want := (autoscalingv1.ScaleStatus{Replicas: 3, Selector: "a=b"}); got.Status != want {
		t.Errorf("the scale's status is %+v, want %+v: replicas count before they are available", got.Status, want)
	}
	got.Spec.Replicas = 4
	if updated, err := foos.UpdateScale(t.Context(), "one", got, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != 4 {
		t.Errorf("scale %+v (%v), want 4 replicas", updated, err)
	}
	if scaled := must(t)(foos.Get(t.Context(), "one", metav1.GetOptions{})); *scaled.Spec.Replicas != 4 || scaled.Spec.DeploymentName != "deployment" {
		t.Errorf("spec %+v, want 4 replicas and the rest as it was", scaled.Spec)
	}
	if _, err := foos.GetScale(t.Context(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the scale of a Foo that is not there: error %v, want NotFound", err)
	}
}

// GetScale fails while a Foo has no number of replicas. UpdateScale gives it one.
func unsetReplicas(t *testing.T, _ Subject, foos clientset.FooInterface) {
	for name, replicas := range map[string]int32{"none": 0, "four": 4} {
		unset := foo(name)
		unset.Spec.Replicas = nil
		must(t)(foos.Create(t.Context(), unset, metav1.CreateOptions{}))
		_, err := foos.GetScale(t.Context(), name, metav1.GetOptions{})
		want := `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`
		if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError ||
			!apierrors.IsInternalError(err) || err.Error() != want {
			t.Errorf("GetScale: error %#v, want an InternalError with code 500: %s", err, want)
		}
		wanted := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if updated, err := foos.UpdateScale(t.Context(), name, wanted, metav1.UpdateOptions{}); err != nil || updated.Spec.Replicas != replicas {
			t.Errorf("UpdateScale: %+v (%v), want %d replicas", updated, err, replicas)
		}
		if got, err := foos.GetScale(t.Context(), name, metav1.GetOptions{}); err != nil || got.Spec.Replicas != replicas {
			t.Errorf("GetScale after UpdateScale: %+v (%v), want %d replicas", got, err, replicas)
		}
	}
}

func notThere(t *testing.T, _ Subject, foos clientset.FooInterface) {
	absent := foo("absent")
	absent.ResourceVersion = "1"
	for call, err := range map[string]error{
		"Get":          second(foos.Get(t.Context(), "absent", metav1.GetOptions{})),
		"Update":       second(foos.Update(t.Context(), absent, metav1.UpdateOptions{})),
		"UpdateStatus": second(foos.UpdateStatus(t.Context(), absent, metav1.UpdateOptions{})),
		"Patch":        second(foos.Patch(t.Context(), "absent", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})),
		"Delete":       foos.Delete(t.Context(), "absent", metav1.DeleteOptions{}),
	} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: error %v, want NotFound", call, err)
		}
	}
}

func second(foo *v1alpha1.Foo, err error) error {
	if err != nil && foo == nil {
		return errors.New("the object beside the error is nil, want an empty one")
	}
	return err
}

func namespaces(t *testing.T, s Subject, here clientset.FooInterface) {
	elsewhere := s.Namespace(t)
	everywhere, err := s.Client.SamplecontrollerV1alpha1().Foos(metav1.NamespaceAll).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Stop()
	must(t)(here.Create(t.Context(), foo("same"), metav1.CreateOptions{}))
	there := foo("same")
	there.Spec.DeploymentName = "there"
	must(t)(s.Client.SamplecontrollerV1alpha1().Foos(elsewhere).Create(t.Context(), there, metav1.CreateOptions{}))
	if got := must(t)(here.Get(t.Context(), "same", metav1.GetOptions{})); got.Spec.DeploymentName != "deployment" {
		t.Errorf("deploymentName %q, want that of this namespace", got.Spec.DeploymentName)
	}
	all, err := s.Client.SamplecontrollerV1alpha1().Foos(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: "name=same"})
	if err != nil || len(all.Items) < 2 {
		t.Errorf("%d Foos in all namespaces (%v), want both", len(all.Items), err)
	}

	watched := map[string]bool{}
	for timeout := time.After(deadline); len(watched) < 2; {
		select {
		case event := <-everywhere.ResultChan():
			if foo, ok := event.Object.(*v1alpha1.Foo); ok && foo.Name == "same" {
				watched[foo.Namespace] = true
			}
		case <-timeout:
			t.Fatalf("a watch of all namespaces saw only %v", watched)
		}
	}
}
