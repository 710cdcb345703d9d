package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

const margherita = beta + inDefault + "/margherita"

// apply applies YAML to margherita, or to what path says instead. kubectl, too, sends JSON.
func (w *world) apply(code int, query, text string, path ...string) reply {
	w.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.Fatal(err)
	}
	return w.must(code, "PATCH", append(path, margherita)[0]+"?fieldManager="+query, string(body), "Content-Type", applyType)
}

func portions(r reply) map[string]any {
	found := map[string]any{}
	list, _ := r.get("spec.toppings").([]any)
	for _, item := range list {
		topping := item.(map[string]any)
		found[topping["name"].(string)] = topping["quantity"]
	}
	return found
}

// Two managers have a topping each on one pizza. What both want is a conflict, which names
// the field, until one of them insists. What one leaves out goes, the other's stays.
func TestApply(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.apply(http.StatusCreated, "alice", `{spec: {toppings: [{name: tomato, quantity: 1}, {name: mozzarella, quantity: 1}]}}`)
	w.apply(http.StatusOK, "bob", `{spec: {toppings: [{name: salami, quantity: 2}]}}`)
	conflict := w.apply(http.StatusConflict, "bob", `{spec: {toppings: [{name: salami, quantity: 2}, {name: tomato, quantity: 3}]}}`)
	if !strings.Contains(conflict.message(), "alice") || !strings.Contains(conflict.message(), `.spec.toppings[name="tomato"].quantity`) {
		t.Errorf("the conflict says %q", conflict.message())
	}
	w.apply(http.StatusOK, "bob&force=true", `{spec: {toppings: [{name: salami, quantity: 2}, {name: tomato, quantity: 3}]}}`)
	got := w.apply(http.StatusOK, "alice", `{spec: {toppings: [{name: tomato, quantity: 3}]}}`)
	if diff := cmp.Diff(map[string]any{"tomato": 3.0, "salami": 2.0}, portions(got)); diff != "" {
		t.Errorf("toppings (-want +got):\n%s", diff)
	}
	// The same once more changes nothing.
	before := w.revision()
	w.apply(http.StatusOK, "alice", `{spec: {toppings: [{name: tomato, quantity: 3}]}}`)
	if after := w.revision(); after != before {
		t.Errorf("revision %d, was %d", after, before)
	}
}

// Finalizers and owners are merged, too: each manager has its own.
func TestApplyMetadata(t *testing.T) {
	w := newWorld(t)
	w.menu()
	const spec = `spec: {toppings: [{name: tomato, quantity: 1}]}`
	w.apply(http.StatusCreated, "alice", `{metadata: {finalizers: [example.com/a], labels: {a: a}}, `+spec+`}`)
	w.apply(http.StatusOK, "bob", `{metadata: {finalizers: [example.com/b], labels: {b: b}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: c, uid: u}]}}`)
	got := w.apply(http.StatusOK, "alice", `{`+spec+`}`)
	if diff := cmp.Diff([]any{"example.com/b"}, got.get("metadata.finalizers")); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"b": "b"}, got.get("metadata.labels")); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// A manager may apply in one version, and another one in the other. Two tomatoes in v1alpha1
// are another quantity in v1beta1, which alice wants to be 1.
func TestApplyVersions(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.apply(http.StatusCreated, "alice", `{spec: {toppings: [{name: tomato, quantity: 1}]}}`)
	got := w.apply(http.StatusOK, "bob", `{metadata: {labels: {b: b}}}`, alpha+inDefault+"/margherita")
	if diff := cmp.Diff([]any{"tomato"}, got.get("spec.toppings")); diff != "" {
		t.Errorf("toppings (-want +got):\n%s", diff)
	}
	conflict := w.apply(http.StatusConflict, "bob", `{spec: {toppings: [tomato, tomato]}}`, alpha+inDefault+"/margherita")
	if !strings.Contains(conflict.message(), "alice") {
		t.Errorf("the conflict says %q", conflict.message())
	}
}

// A write that is no apply is noted as well, so that an apply conflicts with it.
func TestManagedFields(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.apply(http.StatusCreated, "alice", `{spec: {toppings: [{name: tomato, quantity: 1}]}}`)
	w.patch(http.StatusOK, margherita+"?fieldManager=carol", `{"spec":{"toppings":[{"name":"tomato","quantity":5}]}}`)
	conflict := w.apply(http.StatusConflict, "alice", `{spec: {toppings: [{name: tomato, quantity: 1}]}}`)
	if !strings.Contains(conflict.message(), "carol") {
		t.Errorf("the conflict says %q", conflict.message())
	}
}

// Bad applies.
func TestApplyRefused(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for _, test := range []struct {
		reason, query, body string
		code                int
		want                string
	}{
		{"no manager", "", `{}`, 422, "fieldManager"},
		{"no JSON", "?fieldManager=a", `{`, 400, ""},
		{"an alias of YAML", "?fieldManager=a", "a: &a x\nb: [*a, *a]", 400, ""},
		{"a key twice, strict", "?fieldManager=a&fieldValidation=Strict", `{"spec":{},"spec":{}}`, 400, "spec"},
		{"an unknown field, strict", "?fieldManager=a&fieldValidation=Strict", `{"spec":{"size":30}}`, 400, "size"},
		{"an unknown field", "?fieldManager=a", `{"spec":{"size":30}}`, 400, "size"},
		{"managedFields", "?fieldManager=a", `{"metadata":{"managedFields":[{"manager":"b"}]}}`, 400, "managedFields"},
		{"a version of what is not there", "?fieldManager=a", `{"metadata":{"resourceVersion":"1"}}`, 409, "modified"},
		{"another name", "?fieldManager=a", `{"metadata":{"name":"funghi"}}`, 400, "does not match"},
		{"a topping twice", "?fieldManager=a", `{"spec":{"toppings":[{"name":"tomato","quantity":1},{"name":"tomato","quantity":2}]}}`, 400, "duplicate"},
		{"an unknown topping", "?fieldManager=a", `{"spec":{"toppings":[{"name":"pineapple","quantity":1}]}}`, 422, "pineapple"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := w.do("PATCH", margherita+test.query, test.body, "Content-Type", applyType)
			if got.code != test.code || !strings.Contains(got.message(), test.want) {
				t.Errorf("%d %s, want %d and %q", got.code, got.message(), test.code, test.want)
			}
		})
	}
}

// A user who may patch and not create makes nothing new by an apply either. The API server has
// asked only whether they may patch.
func TestApplyNeedsCreate(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.handler.authorize = func(_ context.Context, r *request) error {
		if r.verb == "create" {
			return apierrors.NewForbidden(r.kind.groupResource(), r.name, errors.New("no"))
		}
		return nil
	}
	w.apply(http.StatusForbidden, "alice", `{spec: {toppings: [{name: tomato, quantity: 1}]}}`)
	w.apply(http.StatusOK, "alice", `{metadata: {labels: {a: a}}}`, beta+"toppings/tomato")
}

// A client that says no manager is known by its User-Agent, as far as that can be a name.
func TestUserAgent(t *testing.T) {
	w := newWorld(t)
	for agent, want := range map[string]string{
		"kubectl/v1.37":                   "kubectl",
		"a" + strings.Repeat("ä", 100):    "a" + strings.Repeat("ä", 63),
		"not\u0085printable/and the rest": "notprintable",
	} {
		got := w.do("POST", beta+"toppings?dryRun=All", `{"metadata":{"name":"a"},"spec":{"cost":1}}`, "User-Agent", agent)
		fields, _ := got.get("metadata.managedFields").([]any)
		if len(fields) != 1 || fields[0].(map[string]any)["manager"] != want {
			t.Errorf("%q: %d %s, %v, want manager %q", agent, got.code, got.message(), fields, want)
		}
	}
}
