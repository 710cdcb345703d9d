package e2e

// What every clientset.Interface must do, whatever stands behind it: a fake, a real API
// server. Where the fake differs on purpose, a test says so and checks both sides.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/clientset"
	"example.com/byhand/clientset/fake"
)

// eventWithin is how long a test waits for a watch event.
const eventWithin = 30 * time.Second

// The fake does what a real API server does, apart from what its doc.go says.
func TestFakeBehaviour(t *testing.T) {
	count := 0
	behave(t, subject{
		Client: fake.NewClientset(),
		Namespace: func(*testing.T) string {
			count++
			return fmt.Sprintf("namespace-%d", count)
		},
	})
}

// subject is a clientset under test.
type subject struct {
	Client clientset.Interface
	// Namespace returns an empty namespace.
	Namespace func(t *testing.T) string
	// Real says that an API server with our CRDs stands behind it, which enforces
	// rules that a fake does not know.
	Real bool
}

// behave runs every test with every kind.
func behave(t *testing.T, s subject) {
	for _, kind := range clientKinds {
		kind.test(t, s)
	}
}

// row is what the tests need of a kind. O is a pointer to the object, L one to its
// list, A one to its apply configuration.
type row[O apiObject[O], L runtime.Object, A any] struct {
	kind string
	// in returns the client for a namespace.
	in func(c clientset.Interface, namespace string) client[O, L, A]
	// object returns an object to create, labelled with its name.
	object func(name string) O
	// applied says the same in an apply configuration, and the status that status sets.
	applied func(name string) A
	// edit changes the spec, spoil makes it one that the schema refuses.
	edit, spoil func(O)
	// status changes the status, if there is one.
	status func(O)
	// more are the tests of this kind alone, on an API server.
	more map[string]func(t *testing.T, c client[O, L, A])
}

type apiObject[O any] interface {
	comparable
	metav1.Object
	DeepCopy() O
}

// client is what the clients of all kinds have in common.
type client[O, L, A any] interface {
	Create(ctx context.Context, object O, opts metav1.CreateOptions) (O, error)
	Update(ctx context.Context, object O, opts metav1.UpdateOptions) (O, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (O, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (O, error)
	Apply(ctx context.Context, object A, opts metav1.ApplyOptions) (O, error)
}

// statusClient is that of a kind with a status.
type statusClient[O, A any] interface {
	UpdateStatus(ctx context.Context, object O, opts metav1.UpdateOptions) (O, error)
	ApplyStatus(ctx context.Context, object A, opts metav1.ApplyOptions) (O, error)
}

// test runs every test with this kind.
func (r row[O, L, A]) test(t *testing.T, s subject) {
	tests := map[string]func(t *testing.T, s subject, c client[O, L, A]){
		"create and get":    r.createAndGet,
		"update":            r.update,
		"stale update":      r.staleUpdate,
		"invalid":           r.invalid,
		"delete":            r.remove,
		"list":              r.list,
		"patch":             r.patch,
		"apply":             r.apply,
		"watch":             r.watchChanges,
		"what is not there": r.notThere,
		"namespaces":        r.namespaces,
	}
	if s.Real {
		tests["delete collection"] = r.deleteCollection
	}
	// Each fake has these methods; a client of ours has them only for a kind with a status.
	if _, ok := r.in(s.Client, "").(statusClient[O, A]); ok && (s.Real || r.status != nil) {
		tests["status"] = r.changeStatus
	}
	if s.Real {
		for name, test := range r.more {
			tests[name] = func(t *testing.T, _ subject, c client[O, L, A]) { test(t, c) }
		}
	}
	for name, test := range tests {
		t.Run(r.kind+": "+name, func(t *testing.T) {
			test(t, s, r.in(s.Client, s.Namespace(t)))
		})
	}
}

// must returns the result of a call that may not fail.
func must[O any](t *testing.T) func(object O, err error) O {
	return func(object O, err error) O {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
}

func (r row[O, L, A]) create(t *testing.T, c client[O, L, A], name string) O {
	t.Helper()
	return must[O](t)(c.Create(t.Context(), r.object(name), metav1.CreateOptions{}))
}

// part returns the spec or the status of an object, as JSON has it.
func part[O any](t *testing.T, object O, name string) any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	return content[name]
}

// same compares a part of two objects.
func same[O any](t *testing.T, name string, want, got O, when string) {
	t.Helper()
	if diff := cmp.Diff(part(t, want, name), part(t, got, name)); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", name, when, diff)
	}
}

func (r row[O, L, A]) edited(object O) O {
	object = object.DeepCopy()
	r.edit(object)
	return object
}

func (r row[O, L, A]) createAndGet(t *testing.T, s subject, c client[O, L, A]) {
	created := r.create(t, c, "one")
	got := must[O](t)(c.Get(t.Context(), "one", metav1.GetOptions{}))
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("what Get returns differs from what Create did (-create +get):\n%s", diff)
	}
	same(t, "spec", r.object("one"), got, "after Create")
	if set := got.GetUID() != "" && got.GetResourceVersion() != "" && got.GetGeneration() == 1; set != s.Real {
		t.Errorf("uid %q, resourceVersion %q, generation %d: only a real server sets them", got.GetUID(), got.GetResourceVersion(), got.GetGeneration())
	}
	if _, err := c.Create(t.Context(), r.object("one"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the second Create: error %v, want AlreadyExists", err)
	}
}

func (r row[O, L, A]) update(t *testing.T, _ subject, c client[O, L, A]) {
	want := r.edited(r.create(t, c, "one"))
	updated := must[O](t)(c.Update(t.Context(), want, metav1.UpdateOptions{}))
	got := must[O](t)(c.Get(t.Context(), "one", metav1.GetOptions{}))
	if diff := cmp.Diff(updated, got); diff != "" {
		t.Errorf("what Get returns differs from what Update did (-update +get):\n%s", diff)
	}
	same(t, "spec", want, got, "after Update")
}

// On a real server Update leaves the status alone and UpdateStatus the spec. The
// fake stores what it gets, whole.
func (r row[O, L, A]) changeStatus(t *testing.T, s subject, c client[O, L, A]) {
	if r.status == nil {
		t.Fatalf("the row of %s in internal/tests/e2e/clients_kinds_test.go has no status", r.kind)
	}
	statuses, before := c.(statusClient[O, A]), r.create(t, c, "one")
	sent := r.edited(before)
	r.status(sent)
	if cmp.Equal(part(t, before, "status"), part(t, sent, "status")) {
		t.Fatalf("the row of %s in internal/tests/e2e/clients_kinds_test.go: status changes nothing", r.kind)
	}
	want := sent
	if s.Real {
		want = before
	}
	updated := must[O](t)(c.Update(t.Context(), sent, metav1.UpdateOptions{}))
	same(t, "spec", sent, updated, "after Update")
	same(t, "status", want, updated, "after Update")

	two := r.create(t, c, "two")
	sent = r.edited(two)
	r.status(sent)
	want = sent
	if s.Real {
		want = two
	}
	updated = must[O](t)(statuses.UpdateStatus(t.Context(), sent, metav1.UpdateOptions{}))
	same(t, "spec", want, updated, "after UpdateStatus")
	same(t, "status", sent, updated, "after UpdateStatus")

	three := r.create(t, c, "three")
	r.status(three)
	applied := must[O](t)(statuses.ApplyStatus(t.Context(), r.applied("three"), metav1.ApplyOptions{FieldManager: "test"}))
	same(t, "status", three, applied, "after ApplyStatus")
}

// A real server refuses to overwrite what the writer has not seen.
func (r row[O, L, A]) staleUpdate(t *testing.T, s subject, c client[O, L, A]) {
	stale := r.create(t, c, "one")
	must[O](t)(c.Update(t.Context(), r.edited(stale), metav1.UpdateOptions{}))
	if _, err := c.Update(t.Context(), stale, metav1.UpdateOptions{}); apierrors.IsConflict(err) != s.Real {
		t.Errorf("error %v", err)
	}
}

// A real server knows the schema.
func (r row[O, L, A]) invalid(t *testing.T, s subject, c client[O, L, A]) {
	bad := r.object("bad")
	r.spoil(bad)
	if _, err := c.Create(t.Context(), bad, metav1.CreateOptions{}); apierrors.IsInvalid(err) != s.Real {
		t.Errorf("error %v", err)
	}
}

func (r row[O, L, A]) remove(t *testing.T, _ subject, c client[O, L, A]) {
	r.create(t, c, "one")
	if err := c.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get after Delete: error %v, want NotFound", err)
	}
}

// names returns the names of the objects that a list selects.
func (r row[O, L, A]) names(t *testing.T, c client[O, L, A], opts metav1.ListOptions) (names []string) {
	t.Helper()
	listed, err := c.List(t.Context(), opts)
	if err == nil {
		err = meta.EachListItem(listed, func(item runtime.Object) error {
			names = append(names, item.(metav1.Object).GetName())
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func (r row[O, L, A]) list(t *testing.T, _ subject, c client[O, L, A]) {
	if got := r.names(t, c, metav1.ListOptions{}); got != nil {
		t.Errorf("an empty namespace lists %v", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		r.create(t, c, name)
	}
	for selector, want := range map[string][]string{"": {"a", "b", "c"}, "name=b": {"b"}, "name!=b": {"a", "c"}, "name=d": nil} {
		if diff := cmp.Diff(want, r.names(t, c, metav1.ListOptions{LabelSelector: selector})); diff != "" {
			t.Errorf("selector %q (-want +got):\n%s", selector, diff)
		}
	}
}

func (r row[O, L, A]) deleteCollection(t *testing.T, _ subject, c client[O, L, A]) {
	for _, name := range []string{"a", "b"} {
		r.create(t, c, name)
	}
	if err := c.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name=a"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, r.names(t, c, metav1.ListOptions{})); diff != "" {
		t.Errorf("left over (-want +got):\n%s", diff)
	}
}

func (r row[O, L, A]) patch(t *testing.T, _ subject, c client[O, L, A]) {
	want := r.edited(r.create(t, c, "one"))
	merge, err := json.Marshal(map[string]any{"spec": part(t, want, "spec")})
	if err != nil {
		t.Fatal(err)
	}
	merged := must[O](t)(c.Patch(t.Context(), "one", types.MergePatchType, merge, metav1.PatchOptions{}))
	same(t, "spec", want, merged, "after a merge patch")
	edited := must[O](t)(c.Patch(t.Context(), "one", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/labels"}]`), metav1.PatchOptions{}))
	if len(edited.GetLabels()) != 0 {
		t.Errorf("labels %v after a JSON patch that removes them", edited.GetLabels())
	}
}

func (r row[O, L, A]) apply(t *testing.T, _ subject, c client[O, L, A]) {
	created := must[O](t)(c.Apply(t.Context(), r.applied("one"), metav1.ApplyOptions{FieldManager: "test"}))
	same(t, "spec", r.object("one"), created, "after Apply")
}

func (r row[O, L, A]) watchChanges(t *testing.T, _ subject, c client[O, L, A]) {
	stream, err := c.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	next := func(want watch.EventType) (got O) {
		t.Helper()
		select {
		case event, open := <-stream.ResultChan():
			got, ok := event.Object.(O)
			if !open || !ok || event.Type != want || got.GetName() != "one" {
				t.Fatalf("event %s with %v (open: %t), want %s with %s one", event.Type, event.Object, open, want, r.kind)
			}
			return got
		case <-time.After(eventWithin):
			t.Fatalf("no %s for %s", want, eventWithin)
		}
		return got
	}
	one := r.create(t, c, "one")
	next(watch.Added)
	want := r.edited(one)
	must[O](t)(c.Update(t.Context(), want, metav1.UpdateOptions{}))
	same(t, "spec", want, next(watch.Modified), "of the event")
	if err := c.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	next(watch.Deleted)
}

func (r row[O, L, A]) notThere(t *testing.T, _ subject, c client[O, L, A]) {
	second := func(object O, err error) error {
		if err != nil && object == *new(O) {
			return errors.New("the object beside the error is nil, want an empty one")
		}
		return err
	}
	absent := r.object("absent")
	absent.SetResourceVersion("1")
	errs := map[string]error{
		"Get":    second(c.Get(t.Context(), "absent", metav1.GetOptions{})),
		"Update": second(c.Update(t.Context(), absent, metav1.UpdateOptions{})),
		"Patch":  second(c.Patch(t.Context(), "absent", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})),
		"Delete": c.Delete(t.Context(), "absent", metav1.DeleteOptions{}),
	}
	if c, ok := c.(statusClient[O, A]); ok && r.status != nil {
		errs["UpdateStatus"] = second(c.UpdateStatus(t.Context(), absent, metav1.UpdateOptions{}))
	}
	for call, err := range errs {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: error %v, want NotFound", call, err)
		}
	}
}

func (r row[O, L, A]) namespaces(t *testing.T, s subject, here client[O, L, A]) {
	everywhere, there := r.in(s.Client, metav1.NamespaceAll), r.in(s.Client, s.Namespace(t))
	stream, err := everywhere.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	r.create(t, here, "same")
	must[O](t)(there.Create(t.Context(), r.edited(r.object("same")), metav1.CreateOptions{}))
	same(t, "spec", r.object("same"), must[O](t)(here.Get(t.Context(), "same", metav1.GetOptions{})), "in this namespace")
	if all := r.names(t, everywhere, metav1.ListOptions{LabelSelector: "name=same"}); len(all) < 2 {
		t.Errorf("all namespaces list %v, want both", all)
	}

	watched := map[string]bool{}
	for timeout := time.After(eventWithin); len(watched) < 2; {
		select {
		case event := <-stream.ResultChan():
			if object, ok := event.Object.(O); ok && object.GetName() == "same" {
				watched[object.GetNamespace()] = true
			}
		case <-timeout:
			t.Fatalf("a watch of all namespaces saw only %v", watched)
		}
	}
}
