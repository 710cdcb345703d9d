package main

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/byhand/kit/crd"
)

// client-go finds the kind, with every verb that there is. (TestReadme finds it through the API
// server.)
func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: w.http.URL})
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.ServerResourcesForGroupVersionWithContext(t.Context(), version.String())
	if err != nil || len(list.APIResources) != 1 || list.APIResources[0].Kind != kind.Kind {
		t.Fatalf("%v (%v), want toppings", list, err)
	}
	want := []string{"watch"}
	for _, verb := range verbs {
		want = append(want, verb.name)
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(list.APIResources[0].Verbs))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verbs (-want +got):\n%s", diff)
	}
}

// The schemas have the fields of the Go types, and no others. For metadata that matters
// most: server-side apply refuses an object with a field that its schema lacks.
func TestSchemas(t *testing.T) {
	check := func(name string, goType reflect.Type) {
		inSchema := slices.Sorted(maps.Keys(models[name].Properties))
		inGo := slices.Sorted(maps.Keys(crd.Fields(goType)))
		if diff := cmp.Diff(inGo, inSchema); diff != "" {
			t.Errorf("%s (-Go +schema):\n%s", name, diff)
		}
	}
	goType := reflect.TypeFor[topping]()
	check("Topping", goType)
	spec, _ := goType.FieldByName("Spec")
	check("ToppingSpec", spec.Type)
	meta, _ := goType.FieldByName("ObjectMeta")
	check("ObjectMeta", meta.Type)
	owners, _ := meta.Type.FieldByName("OwnerReferences")
	check("OwnerReference", owners.Type.Elem())
	managed, _ := meta.Type.FieldByName("ManagedFields")
	check("ManagedFieldsEntry", managed.Type.Elem())
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

// A client that asks for metadata alone gets no more, and one that asks for a Table gets objects.
func TestForms(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for accept, want := range map[string]string{
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1":     "PartialObjectMetadataList",
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/json":        "ToppingList",
		"application/vnd.kubernetes.protobuf,application/json;q=0.9,*/*;q=0.8": "ToppingList",
	} {
		if got := w.must(http.StatusOK, "GET", collection, "", "Accept", accept); got.get("kind") != want {
			t.Errorf("%s: %v, want %s", accept, got.get("kind"), want)
		}
	}
}
