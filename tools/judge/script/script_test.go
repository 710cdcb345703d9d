package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"example.com/byhand/tools/judge/script"
)

// Each error names the line and shows how to fix it.
func TestWrong(t *testing.T) {
	for _, test := range []struct{ script, says string }{
		{"", ":1: a script needs steps"},
		{"steps:\n- a: b\nallows:\n- x", "line 3: field allows not found"},
		{"steps:\n- kubectl", "line 2: a step is a name and a command"},
		{"steps:\n- a: b\n- a: c", ":3: two steps have the name a"},
		{"steps:\n- Create it: b", "line 2: the name of a step"},
		{"steps:\n- a: ''", "line 2: step a does nothing"},
		{"steps:\n- a: kubectl delete foo a\n- b: |\n    true\n    kubectl -n x get foo", "line 3: step b names a namespace"},
		{"steps:\n- a: kubectl get foo -n $NAMESPACE\n- b: 'if true; then'", "line 3: step b is no command of the shell: sh: "},
		{"steps:\n- a: b\n-c", "line 3: could not find expected ':'"},
		{"crds:\n- none.yaml\nsteps:\n- a: b", ":2: "},
		{"allow:\n- [a]\nsteps:\n- a: b", "line 2: cannot unmarshal"},
	} {
		file := filepath.Join(t.TempDir(), "judge.yaml")
		if err := os.WriteFile(file, []byte(test.script), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := script.Read(file); err == nil || !strings.HasPrefix(err.Error(), file+":") || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: it says %v, want %s: %s", test.script, err, file, test.says)
		}
	}
}

// This repository's scripts are valid and short.
func TestShort(t *testing.T) {
	files, _ := filepath.Glob("*.yaml")
	for _, file := range files {
		if _, err := script.Read(file); err != nil {
			t.Error(err)
		}
		if content, err := os.ReadFile(file); err != nil || strings.Count(string(content), "\n") > 40 {
			t.Errorf("%s has more than 40 lines, or none: %v", file, err)
		}
	}
}

// A line of allow accepts a finding and everything below it.
func TestAllows(t *testing.T) {
	s := &script.Script{Allow: []script.Line{{Text: "drift deployments .spec.replicas"}, {Text: "set-back P7"}, {Text: "down pods"}}}
	for finding, want := range map[string]bool{
		"drift deployments .spec.replicas": true, "drift deployments .spec": false, "drift deployments .spec.replicasToo": false,
		"set-back P7": true, "set-back P1": false, "down pods a .spec.nodeName": true, "down podsets a": false,
	} {
		if got := s.Allows(finding); got != want {
			t.Errorf("%q: %t", finding, got)
		}
	}
}

const stored = `{"kind": "Thing", "metadata": {"name": "a", "generation": 2, "ownerReferences": [{"uid": "6bce41d3-0d10-4cc2-b71e-9f9d611f035e"}], "managedFields": [
  {"manager": "program", "fieldsV1": {"f:metadata": {"f:ownerReferences": {".": {}, "k:{\"uid\":\"6bce41d3-0d10-4cc2-b71e-9f9d611f035e\"}": {}}}, "f:spec": {"f:replicas": {}, "f:items": {".": {}, "k:{\"name\":\"one\"}": {".": {}, "f:name": {}, "f:image": {}}}, "f:set": {"v:\"y\"": {}}, "f:args": {}}}},
  {"manager": "program", "subresource": "status", "fieldsV1": {"f:status": {"f:observedGeneration": {}, "f:at": {}}}},
  {"manager": "other", "fieldsV1": {"f:spec": {"f:items": {"k:{\"name\":\"two\"}": {}}, "f:node": {}}}}]},
  "spec": {"replicas": 1, "node": "n", "items": [{"name": "two", "image": "i2"}, {"name": "one", "image": "i1", "theirs": true}], "set": ["x", "y"], "args": ["p", "q"]},
  "status": {"observedGeneration": 2, "at": "2026-01-01T00:00:00Z", "theirs": 1}}`

func snapshot(t *testing.T, text string) (script.Snapshot, *unstructured.Unstructured) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	s := script.Snapshot{}
	s.Add("things a", object, func(manager string) bool { return manager == "program" })
	return s.Renamed(strings.NewReplacer("i1", "I1")), object
}

// A snapshot has only values that the program has written, by the keys of lists, without times and UIDs.
func TestSnapshot(t *testing.T) {
	got, object := snapshot(t, stored)
	want := script.Snapshot{
		"things a": script.AnObject, "things a .spec.replicas": "1", "things a .spec.items[name=\"one\"].name": "one", "things a .spec.items[name=\"one\"].image": "I1",
		"things a .spec.set[=\"y\"]": "y", "things a .spec.args[0]": "p", "things a .spec.args[1]": "q",
		"things a .status.observedGeneration": "the generation", "things a .status.at": "TIME", "things a .metadata.ownerReferences[uid=\"UID\"].uid": "UID",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "program", Subresource: "status"}})
	if script.Made(object, func(string) bool { return true }) {
		t.Error("a program that has only written the status has not created the object")
	}
}

// A difference names a missing object, or else the changed value.
func TestAgainst(t *testing.T) {
	was, _ := snapshot(t, stored)
	for _, test := range []struct {
		now  func(script.Snapshot)
		want []string
	}{
		{func(s script.Snapshot) { s["things a .spec.replicas"] = "3" }, []string{"things a .spec.replicas: 3; learned: 1"}},
		{func(s script.Snapshot) { clear(s) }, []string{"things a: not there; learned: an object"}},
		{func(s script.Snapshot) { s["things b"], s["things b .spec"] = script.AnObject, "x" }, []string{"things b: an object; learned: not there"}},
		{func(s script.Snapshot) { s["things a .spec.set[=\"y\"]"] = "skipped" }, nil},
	} {
		now, _ := snapshot(t, stored)
		test.now(now)
		var got []string
		for _, d := range now.Against(was, func(name string) bool { return strings.Contains(name, ".spec.set") }) {
			got = append(got, d.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// Leaves has every value that can be changed, but no keys of lists and no annotations of kubectl.
func TestLeaves(t *testing.T) {
	object := map[string]any{"kind": "Thing", "metadata": map[string]any{"name": "a"}, "status": map[string]any{"n": int64(1)},
		"spec": map[string]any{"on": true, "a/b~c": "x", "none": nil, "kubectl.kubernetes.io/restartedAt": "x", "items": []any{map[string]any{"name": "one", "n": int64(1)}, "y"}}}
	got := map[string]string{}
	for _, leaf := range script.Leaves(object) {
		leaf.Set(leaf.Other())
		got[leaf.Pointer] = leaf.Path
	}
	if diff := cmp.Diff(map[string]string{"/spec/on": ".spec.on", "/spec/a~1b~0c": ".spec.a/b~c", "/spec/items/0/n": ".spec.items[0].n", "/spec/items/1": ".spec.items[1]"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want := map[string]any{"on": false, "a/b~c": "xx", "none": nil, "kubectl.kubernetes.io/restartedAt": "x", "items": []any{map[string]any{"name": "one", "n": int64(2)}, "yx"}}
	if diff := cmp.Diff(want, object["spec"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
