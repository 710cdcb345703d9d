package main

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// client-go finds the same in the aggregated document and, without it, group by group.
func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	for _, legacy := range []bool{false, true} {
		client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: w.http.URL})
		if err != nil {
			t.Fatal(err)
		}
		client.UseLegacyDiscovery = legacy
		groups, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			t.Fatal(err)
		}
		mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(kinds[0].groupKind())
		if err != nil {
			t.Fatal(err)
		}
		if mapping.Resource != pizzas || mapping.Scope.Name() != "namespace" {
			t.Errorf("legacy %t: a Pizza is %v (%s)", legacy, mapping.Resource, mapping.Scope.Name())
		}
	}
}

// What the API server asks for, and a wrong path.
func TestDiscoveryPaths(t *testing.T) {
	w := newWorld(t)
	for path, kind := range map[string]string{"/apis": "APIGroupList", "/apis/" + group: "APIGroup", strings.TrimSuffix(beta, "/"): "APIResourceList"} {
		if got := w.must(http.StatusOK, "GET", path, "").get("kind"); got != kind {
			t.Errorf("%s is a %v, want %s", path, got, kind)
		}
	}
	const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	got := w.must(http.StatusOK, "GET", "/apis", "", "Accept", v2+",application/json")
	if got.get("kind") != "APIGroupDiscoveryList" || got.header.Get("Content-Type") != v2 {
		t.Errorf("/apis is a %v of type %q", got.get("kind"), got.header.Get("Content-Type"))
	}
	w.must(http.StatusNotFound, "GET", "/apis/"+group+"/v2", "")
	w.must(http.StatusNotFound, "GET", "/metrics", "")
}

// The schemas have the fields of the Go types, and no others. For metadata that matters
// most: server-side apply refuses an object with a field that its schema lacks.
func TestSchemas(t *testing.T) {
	documents, err := newOpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var check func(name string, goType reflect.Type)
	check = func(name string, goType reflect.Type) {
		schema := documents.models[name]
		if schema == nil {
			t.Fatalf("there is no schema %s", name)
		}
		var inSchema []string
		for field := range schema.Properties {
			inSchema = append(inSchema, field)
		}
		slices.Sort(inSchema)
		inGo := jsonFields(goType)
		slices.Sort(inGo)
		if diff := cmp.Diff(inGo, inSchema); diff != "" {
			t.Errorf("%s (-Go +schema):\n%s", name, diff)
		}
	}
	for _, kind := range kinds {
		for _, version := range versions {
			o, err := scheme.New(kind.gvk(version))
			if err != nil {
				t.Fatal(err)
			}
			goType := reflect.TypeOf(o).Elem()
			check(version+"."+kind.name, goType)
			spec, _ := goType.FieldByName("Spec")
			check(version+"."+kind.name+"Spec", spec.Type)
			meta, _ := goType.FieldByName("ObjectMeta")
			check("ObjectMeta", meta.Type)
			owners, _ := meta.Type.FieldByName("OwnerReferences")
			check("OwnerReference", owners.Type.Elem())
			managed, _ := meta.Type.FieldByName("ManagedFields")
			check("ManagedFieldsEntry", managed.Type.Elem())
		}
	}
}

// jsonFields returns the names of a struct's fields in JSON.
func jsonFields(goType reflect.Type) (names []string) {
	for field := range goType.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			names = append(names, jsonFields(field.Type)...)
			continue
		}
		names = append(names, name)
	}
	return names
}

// The documents are where the index says, under a URL that changes with them.
func TestOpenAPI(t *testing.T) {
	w := newWorld(t)
	index := w.must(http.StatusOK, "GET", "/openapi/v3", "")
	for _, version := range versions {
		paths := index.body["paths"].(map[string]any)
		url := paths["apis/"+group+"/"+version].(map[string]any)["serverRelativeURL"].(string)
		if !strings.Contains(url, "?hash=") {
			t.Errorf("%s has no hash", url)
		}
		document := w.must(http.StatusOK, "GET", url, "")
		if document.get("openapi") == nil || document.get("components") == nil {
			t.Errorf("%s is no document: %v", url, document.body)
		}
	}
}

// Tables have what kubectl prints.
func TestTable(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.bake("a", "salami", "tomato", "salami")
	const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	got := w.must(http.StatusOK, "GET", beta+inDefault, "", "Accept", accept)
	row := got.body["rows"].([]any)[0].(map[string]any)
	cells := row["cells"].([]any)
	if diff := cmp.Diff([]any{"a", "2 salami, tomato"}, cells[:2]); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if kind := row["object"].(map[string]any)["kind"]; kind != "PartialObjectMetadata" {
		t.Errorf("the row comes with a %v", kind)
	}
	if columns := got.body["columnDefinitions"].([]any); len(columns) != len(cells) {
		t.Errorf("%d columns for %d cells", len(columns), len(cells))
	}
	got = w.must(http.StatusOK, "GET", beta+inDefault+"?includeObject=Object", "", "Accept", accept)
	if object := got.body["rows"].([]any)[0].(map[string]any)["object"].(map[string]any); object["spec"] == nil {
		t.Errorf("with includeObject=Object the row comes with %v", object)
	}
	got = w.must(http.StatusOK, "GET", beta+inDefault, "", "Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	if got.get("kind") != "PartialObjectMetadataList" {
		t.Errorf("metadata is a %v", got.get("kind"))
	}
}
