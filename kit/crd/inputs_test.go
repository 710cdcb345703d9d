package crd_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
)

type object = map[string]any

type input struct {
	Name                          string
	Spec, Status, Schema, Version object
	Definition                    json.RawMessage // a merge patch of the definition
	Rows                          []row
	// Rejected is part of the error for the definition. Accepted reports that a real API server accepts it.
	Rejected string
	Accepted bool
}

// row is a request and the expected response: an object, a number of objects, or the paths of errors. A
// create replaces the object of earlier rows.
type row struct {
	Create, Update, Status, Want json.RawMessage
	Scale                        int
	Select, Message              string
	Errors                       []string
}

const group = "inputs.example.com"

//go:embed testdata/inputs.yaml
var text []byte

func inputs(t *testing.T) (all []input) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (in input) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: in.Name + "s"}
}

func (in input) definition(t *testing.T) []byte {
	t.Helper()
	root := in.Schema
	if root == nil {
		root = object{"type": "object", "properties": object{"spec": in.Spec}}
		if in.Status != nil {
			root["properties"].(object)["status"] = in.Status
		}
	}
	version := object{"name": "v1", "served": true, "storage": true, "subresources": object{"status": object{}}, "schema": object{"openAPIV3Schema": root}}
	maps.Copy(version, in.Version)
	definition, err := json.Marshal(object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": in.Name + "s." + group},
		"spec": object{"group": group, "scope": "Namespaced", "names": object{"kind": in.kind(), "plural": in.Name + "s"}, "versions": []any{version}}})
	if err == nil && in.Definition != nil {
		definition, err = jsonpatch.MergePatch(definition, in.Definition)
	}
	if err != nil {
		t.Fatal(err)
	}
	return definition
}

func (in input) kind() string { return strings.ToUpper(in.Name[:1]) + in.Name[1:] }

// An API server in memory stores, or rejects, each object of testdata/inputs.yaml. TestReal sends the same
// requests to a real one.
func TestInputs(t *testing.T) {
	for _, in := range inputs(t) {
		t.Run(in.Name, func(t *testing.T) {
			resource, err := crd.Resource(in.definition(t))
			if rejected := fmt.Sprint(err); err != nil && in.Rejected == "" || !strings.Contains(rejected, in.Rejected) {
				t.Fatalf("the error is %v, want %q", err, in.Rejected)
			}
			if err != nil {
				return
			}
			client, err := dynamic.NewForConfig(testkit.NewAPIServer(resource).Config())
			if err != nil {
				t.Fatal(err)
			}
			in.play(t, client)
		})
	}
}

func (in input) play(t *testing.T, client dynamic.Interface) {
	t.Helper()
	objects := dynamic.ResourceInterface(client.Resource(in.resource()))
	if !bytes.Contains(in.Definition, []byte("Cluster")) {
		objects = client.Resource(in.resource()).Namespace("default")
	}
	for _, row := range in.Rows {
		got, err := row.send(t.Context(), objects, in.kind())
		want := any(row.Want)
		if row.Errors != nil {
			want, got = row.Errors, paths(err)
		} else if err != nil {
			t.Errorf("%s: %v", compact(row), err)
			continue
		}
		if diff := gocmp.Diff(compact(want), compact(got)); diff != "" || row.Message != "" && !strings.Contains(err.Error(), row.Message) {
			t.Errorf("%s (%v) (-want +got):\n%s", compact(row), err, diff)
		}
	}
}

// send returns the response without fields that differ between servers.
func (r row) send(ctx context.Context, objects dynamic.ResourceInterface, kind any) (answer any, err error) {
	var got *unstructured.Unstructured
	sent := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(slices.Concat(r.Create, r.Update, r.Status), &sent.Object); r.Select == "" && r.Scale == 0 && err != nil {
		return nil, err
	}
	switch {
	case r.Select != "":
		list, err := objects.List(ctx, metav1.ListOptions{FieldSelector: r.Select})
		if err != nil {
			return nil, err
		}
		return len(list.Items), nil
	case r.Scale > 0:
		got, err = objects.Patch(ctx, "a", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, r.Scale), metav1.PatchOptions{}, "scale")
	default:
		sent.Object["apiVersion"], sent.Object["kind"] = group+"/v1", kind
		if sent.GetName() == "" {
			sent.SetName("a")
		}
		if r.Create != nil {
			_ = objects.Delete(ctx, "a", metav1.DeleteOptions{})
			got, err = objects.Create(ctx, sent, metav1.CreateOptions{})
			break
		}
		before, err := objects.Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		sent.SetResourceVersion(before.GetResourceVersion())
		if r.Update != nil {
			got, err = objects.Update(ctx, sent, metav1.UpdateOptions{})
		} else {
			got, err = objects.UpdateStatus(ctx, sent, metav1.UpdateOptions{})
		}
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	labels := got.GetLabels()
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		delete(got.Object, field)
	}
	got.SetLabels(labels)
	return got.Object, nil
}

// paths are the fields that an error is about, each once.
func paths(err error) (paths []string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return []string{fmt.Sprint("no status: ", err)}
	}
	if status.Status().Reason == metav1.StatusReasonBadRequest {
		return []string{"bad request"}
	}
	for _, cause := range status.Status().Details.Causes {
		paths = append(paths, cause.Field)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func compact(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
