package e2e

// The behavior of every clientset.Interface, with a fake or a real API server. If the fake differs on
// purpose, a test names the difference and checks both.

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/clientset"
	"example.com/byhand/clientset/fake"
	"example.com/byhand/internal/tests/samples"
)

// eventWithin is how long a test waits for a watch event.
const eventWithin = 30 * time.Second

// The fake behaves like a real API server, except for the differences in its doc.go.
func TestFakeBehaviour(t *testing.T) {
	behave(t, false, func(t *testing.T) (clientset.Interface, string) { return fake.NewClientset(), "default" })
}

// behave runs every test with every kind, each in an empty namespace. real means that the client uses an
// API server with this repository's CRDs, which enforces more rules than a fake.
func behave(t *testing.T, real bool, in func(t *testing.T) (c clientset.Interface, namespace string)) {
	for _, kind := range samples.All {
		for name, test := range map[string]func(c *caller){"writes": (*caller).writes, "reads": (*caller).reads} {
			t.Run(kind.Kind+": "+name, func(t *testing.T) {
				c, namespace := in(t)
				test(&caller{T: t, kind: kind, real: real, client: kind.Client(c, namespace)})
			})
		}
	}
}

// caller calls the client of one kind in a separate namespace.
type caller struct {
	*testing.T
	kind   samples.Kind
	real   bool
	client any
}

func (c *caller) call(method string, arguments ...any) any {
	c.Helper()
	result, err := samples.Call(c.Context(), c.client, method, arguments...)
	if err != nil {
		c.Fatalf("%s: %v", method, err)
	}
	return result
}

// write calls a method that returns the object, of which Get must return the same.
func (c *caller) write(method string, arguments ...any) samples.Object {
	c.Helper()
	written := c.call(method, arguments...).(samples.Object)
	if diff := cmp.Diff(any(written), c.call("Get", written.GetName(), metav1.GetOptions{})); diff != "" {
		c.Errorf("the result of Get differs from the result of %s (-%s +Get):\n%s", method, method, diff)
	}
	return written
}

// refused calls a method. The API server must reject the call if expected is true, and accept it otherwise.
func (c *caller) refused(is func(error) bool, expected bool, method string, arguments ...any) {
	c.Helper()
	result, err := samples.Call(c.Context(), c.client, method, arguments...)
	if is(err) != expected {
		c.Errorf("%s %v: error %v", method, arguments, err)
	}
	if reflect.ValueOf(result).IsNil() {
		c.Errorf("%s: the object returned with the error is nil, want an empty one", method)
	}
}

// object returns an object to create, labelled with its name.
func (c *caller) object(name string) samples.Object {
	object := c.kind.Object.DeepCopyObject().(samples.Object)
	object.SetNamespace("")
	object.SetResourceVersion("")
	object.SetName(name)
	object.SetLabels(map[string]string{"name": name})
	return object
}

func (c *caller) create(name string) samples.Object {
	c.Helper()
	return c.write("Create", c.object(name), metav1.CreateOptions{})
}

// changed returns a copy of an object with a merge patch.
func (c *caller) changed(object samples.Object, patch string) samples.Object {
	c.Helper()
	object = object.DeepCopyObject().(samples.Object)
	if err := json.Unmarshal([]byte(patch), object); err != nil {
		c.Fatal(err)
	}
	return object
}

// part returns the spec or the status of an object, as in its JSON.
func (c *caller) part(object any, name string) any {
	c.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		c.Fatal(err)
	}
	return content[name]
}

func (c *caller) same(name string, want, got any, when string) {
	c.Helper()
	if diff := cmp.Diff(c.part(want, name), c.part(got, name)); diff != "" {
		c.Errorf("%s %s (-want +got):\n%s", name, when, diff)
	}
}

func (c *caller) writes() {
	created := c.create("one")
	c.same("spec", c.object("one"), created, "after Create")
	if set := created.GetUID() != "" && created.GetResourceVersion() != "" && created.GetGeneration() == 1; set != c.real {
		c.Errorf("uid %q, resourceVersion %q, generation %d: only a real server sets them", created.GetUID(), created.GetResourceVersion(), created.GetGeneration())
	}
	c.refused(apierrors.IsAlreadyExists, true, "Create", c.object("one"), metav1.CreateOptions{})
	// A real server knows the schema.
	c.refused(apierrors.IsInvalid, c.real, "Create", c.changed(c.object("bad"), c.kind.Spoil), metav1.CreateOptions{})

	edited := c.changed(created, c.kind.Edit)
	c.same("spec", edited, c.write("Update", edited, metav1.UpdateOptions{}), "after Update")
	// A real server rejects a write that is based on an older version.
	c.refused(apierrors.IsConflict, c.real, "Update", created, metav1.UpdateOptions{})

	c.call("Delete", "one", metav1.DeleteOptions{})
	c.refused(apierrors.IsNotFound, true, "Get", "one", metav1.GetOptions{})
}

func (c *caller) reads() {
	stream := c.call("Watch", metav1.ListOptions{}).(watch.Interface)
	defer stream.Stop()
	next := func(want watch.EventType, object samples.Object) {
		c.Helper()
		select {
		case event := <-stream.ResultChan():
			got, ok := event.Object.(samples.Object)
			if !ok || event.Type != want || got.GetName() != object.GetName() {
				c.Fatalf("event %s with %v, want %s with %s %s", event.Type, event.Object, want, c.kind.Kind, object.GetName())
			}
			c.same("spec", object, got, "of the event")
		case <-time.After(eventWithin):
			c.Fatalf("no %s for %s", want, eventWithin)
		}
	}
	a, b := c.create("a"), c.create("b")
	next(watch.Added, a)
	next(watch.Added, b)
	a = c.changed(a, c.kind.Edit)
	c.call("Update", a, metav1.UpdateOptions{})
	next(watch.Modified, a)
	for selector, want := range map[string]string{"": "[a b]", "name=a": "[a]", "name=c": "[]"} {
		if got := c.names(selector); got != want {
			c.Errorf("selector %q: %s, want %s", selector, got, want)
		}
	}
	if c.real {
		c.call("DeleteCollection", metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name=a"})
	} else {
		c.call("Delete", "a", metav1.DeleteOptions{})
	}
	next(watch.Deleted, a)
	if left := c.names(""); left != "[b]" {
		c.Errorf("left over are %s, want [b]", left)
	}
}

func (c *caller) names(selector string) string {
	c.Helper()
	names := []string{}
	err := meta.EachListItem(c.call("List", metav1.ListOptions{LabelSelector: selector}).(runtime.Object), func(item runtime.Object) error {
		names = append(names, item.(metav1.Object).GetName())
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	return fmt.Sprint(names)
}
