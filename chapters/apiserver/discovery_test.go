package main

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/kit/crd"
)

// Discovery names every verb that there is. (TestReadme finds the kind through the API server.)
func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	want := []any{"watch"}
	for _, verb := range verbs {
		want = append(want, verb.name)
	}
	toppings := w.must(http.StatusOK, "GET", "/apis/"+version.String(), "").body["resources"].([]any)[0].(map[string]any)
	anyOrder := cmpopts.SortSlices(func(a, b any) bool { return a.(string) < b.(string) })
	if diff := cmp.Diff(want, toppings["verbs"], anyOrder); diff != "" {
		t.Errorf("verbs (-want +got):\n%s", diff)
	}
}

// The schemas have the fields of the Go types, and no others. For metadata that matters
// most: server-side apply refuses an object with a field that its schema lacks.
func TestSchemas(t *testing.T) {
	for name, goType := range map[string]reflect.Type{
		"Topping": reflect.TypeFor[topping](), "ToppingSpec": reflect.TypeFor[v1beta1.ToppingSpec](),
		"ObjectMeta": reflect.TypeFor[metav1.ObjectMeta](), "OwnerReference": reflect.TypeFor[metav1.OwnerReference](),
		"ManagedFieldsEntry": reflect.TypeFor[metav1.ManagedFieldsEntry](),
	} {
		inSchema := slices.Sorted(maps.Keys(models[name].Properties))
		inGo := slices.Sorted(maps.Keys(crd.Fields(goType)))
		if diff := cmp.Diff(inGo, inSchema); diff != "" {
			t.Errorf("%s (-Go +schema):\n%s", name, diff)
		}
	}
}

// The document is where the index says, under a URL that changes with it.
func TestOpenAPI(t *testing.T) {
	w := newWorld(t)
	index := w.must(http.StatusOK, "GET", "/openapi/v3", "")
	paths := index.body["paths"].(map[string]any)
	url := paths["apis/"+version.String()].(map[string]any)["serverRelativeURL"].(string)
	if !strings.Contains(url, "?hash=") {
		t.Errorf("%s has no hash", url)
	}
	document := w.must(http.StatusOK, "GET", url, "")
	if document.get("openapi") == nil || document.get("components") == nil {
		t.Errorf("%s is no document: %v", url, document.body)
	}
}

// A client that asks for metadata alone gets no more, as the garbage collector does, and one that asks
// for a Table gets objects: in a list and in events.
func TestForms(t *testing.T) {
	w := newWorld(t)
	w.menu()
	const toppings = "aggregated.restaurant.programming-kubernetes.info/v1beta1 Topping"
	is := func(object map[string]any) string { return fmt.Sprint(object["apiVersion"], " ", object["kind"]) }
	for accept, want := range map[string]string{
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1":     "meta.k8s.io/v1 PartialObjectMetadata",
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/json":        toppings,
		"application/vnd.kubernetes.protobuf,application/json;q=0.9,*/*;q=0.8": toppings,
	} {
		if got := is(w.must(http.StatusOK, "GET", collection, "", "Accept", accept).body); got != want+"List" {
			t.Errorf("%s: %s, want %sList", accept, got, want)
		}
		object := w.watch(collection+"?watch=true", "Accept", accept).wants("ADDED mozzarella")
		if isWhole := object["spec"] != nil; is(object) != want || isWhole != (want == toppings) {
			t.Errorf("%s: the event has %v, want a %s", accept, object, want)
		}
	}
}
