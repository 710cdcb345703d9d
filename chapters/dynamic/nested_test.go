package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// result is what a function of a path returns. Errors are compared by whether there is one:
// their words are ours.
type result struct {
	Value any
	Found bool
	Err   bool
}

func resultOf[T any](value T, found bool, err error) result { return result{value, found, err != nil} }

// pathsOf returns each path that a field can have in the value of a JSON document, and at
// each step also a field that is missing.
func pathsOf(value any, path []string) (paths [][]string) {
	paths = append(paths, path, append(path[:len(path):len(path)], "missing"))
	fields, _ := value.(map[string]any)
	for field, next := range fields {
		paths = append(paths, pathsOf(next, append(path[:len(path):len(path)], field))...)
	}
	return paths
}

// Each of our functions returns what that of apimachinery returns, at every path of every
// object. The seeds run as a test; go test -fuzz=FuzzNested makes more.
func FuzzNested(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"metadata": {"name": "a", "labels": {"b": "c", "d": ""}, "generation": 3}}`,
		`{"metadata": null, "items": null}`,
		`{"metadata": "of another type", "spec": ["a", {"b": 1}], "status": {"a": {"b": {"c": null}}}}`,
		`{"one": 1, "float": 1.0, "exponent": 1e3, "big": 9223372036854775807, "bigger": 9223372036854775808, "minus": -0}`,
		`{"true": true, "false": false, "map": {"a": 1}, "mixed": {"a": "b", "c": null}, "": {"": ""}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		var object map[string]any
		if err := utiljson.Unmarshal([]byte(document), &object); err != nil {
			t.Skip()
		}
		for _, path := range pathsOf(object, nil) {
			for name, results := range map[string][2]result{
				"NestedString":    {resultOf(unstructured.NestedString(object, path...)), resultOf(NestedString(object, path...))},
				"NestedInt64":     {resultOf(unstructured.NestedInt64(object, path...)), resultOf(NestedInt64(object, path...))},
				"NestedFloat64":   {resultOf(unstructured.NestedFloat64(object, path...)), resultOf(NestedFloat64(object, path...))},
				"NestedBool":      {resultOf(unstructured.NestedBool(object, path...)), resultOf(NestedBool(object, path...))},
				"NestedStringMap": {resultOf(unstructured.NestedStringMap(object, path...)), resultOf(NestedStringMap(object, path...))},
			} {
				if diff := cmp.Diff(results[0], results[1]); diff != "" {
					t.Errorf("%s %q of %s (-apimachinery +ours):\n%s", name, path, document, diff)
				}
			}
			if len(path) > 0 {
				compareSet(t, object, path)
			}
		}
	})
}

func compareSet(t *testing.T, object map[string]any, path []string) {
	t.Helper()
	theirs := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	ours := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	if object == nil {
		return // Neither can set a field of a nil map.
	}
	theirErr := unstructured.SetNestedField(theirs, "new", path...)
	ourErr := SetNestedField(ours, "new", path...)
	if diff := cmp.Diff(theirs, ours); diff != "" || (theirErr == nil) != (ourErr == nil) {
		t.Errorf("SetNestedField %q: error %v, ours %v (-apimachinery +ours):\n%s", path, theirErr, ourErr, diff)
	}
}

// A field of another type is an error that names it. Who drops the error reads "" or 0.
func TestAnotherType(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"replicas": int64(3), "paused": nil, "ports": []any{"a"}}}
	_, _, asString := NestedString(object, "spec", "replicas")
	_, _, below := NestedString(object, "spec", "replicas", "max")
	_, _, null := NestedBool(object, "spec", "paused")
	_, _, inList := NestedString(object, "spec", "ports", "0")
	for _, test := range []struct {
		err  error
		want string
	}{
		{asString, ".spec.replicas is int64, not string"},
		{below, ".spec.replicas is int64: it has no field max"},
		{null, ".spec.paused is null, not bool"},
		{inList, ".spec.ports is a list: it has no field 0"},
		{SetNestedField(object, "x", "spec", "replicas", "max"), ".spec.replicas is int64: it cannot have fields"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
}

// The decoder of apimachinery keeps integers, encoding/json makes every number a float64.
// And a float64 that is whole is written without its dot: it comes back as an int64.
func TestNumbers(t *testing.T) {
	const document = `{"apiVersion": "v1", "kind": "A", "whole": 3, "dot": 3.0, "big": 9007199254740993}`
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(document), object); err != nil { // Calls its UnmarshalJSON.
		t.Fatal(err)
	}
	if object.Object["whole"] != int64(3) || object.Object["dot"] != float64(3) || object.Object["big"] != int64(9007199254740993) {
		t.Errorf("Unstructured: %#v", object.Object)
	}
	again, err := object.MarshalJSON()
	if err != nil || !strings.Contains(string(again), `"dot":3,`) {
		t.Errorf("written again: %s, %v", again, err)
	}
	var plain map[string]any
	if err := json.Unmarshal([]byte(document), &plain); err != nil {
		t.Fatal(err)
	}
	// 2^53 + 1 is the first integer that a float64 cannot hold.
	if plain["whole"] != float64(3) || plain["big"] != float64(9007199254740992) {
		t.Errorf("encoding/json: %#v", plain)
	}
}

// A Go int in an Unstructured can be set, printed and sent. The first DeepCopy panics, far
// away from where it was set.
func TestIntPanicsInDeepCopy(t *testing.T) {
	copies := func(value any) (panicked any) {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		if err := SetNestedField(object.Object, value, "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
		if data, err := json.Marshal(object.Object); err != nil || string(data) != `{"spec":{"replicas":3}}` {
			t.Errorf("%T: sent as %s, %v", value, data, err)
		}
		defer func() { panicked = recover() }()
		object.DeepCopy()
		return nil
	}
	if panicked := copies(int64(3)); panicked != nil {
		t.Errorf("int64: %v", panicked)
	}
	if panicked, ok := copies(int(3)).(error); !ok || panicked.Error() != "cannot deep copy int" {
		t.Errorf("int: panic %v", panicked)
	}
}

// Servers that are written in Go send null for an empty list. A list client has to take it.
func TestItemsNull(t *testing.T) {
	s := newServer(t)
	const path = "/apis/examples-gzh.com/v1alpha1/namespaces/default/projects"
	s.answer(path, `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "ProjectList", "metadata": {"resourceVersion": "7"}, "items": null}`)
	client := s.client(t)
	projects, _, err := newMapper(t, client).Find("projects")
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.List(t.Context(), projects[0].GVR, "default", metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 || list.GetResourceVersion() != "7" {
		t.Errorf("List: %v, %v", list, err)
	}
	// As an object of its own it is not even a list any more.
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(s.answers[path])); err != nil {
		t.Fatal(err)
	}
	if _, _, err := unstructured.NestedSlice(object.Object, "items"); err == nil || object.IsList() {
		t.Errorf("IsList %v, NestedSlice: %v", object.IsList(), err)
	}
}
