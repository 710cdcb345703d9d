package testkit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patched applies a patch to an object or its scale.
func (x *request) patched(before *unstructured.Unstructured, patch []byte) ([]byte, error) {
	view, err := x.view(before)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(view)
	if err != nil {
		return nil, err
	}
	switch kind := types.PatchType(x.Header.Get("Content-Type")); {
	case kind == types.MergePatchType:
		return jsonpatch.MergePatch(document, patch)
	case kind == types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		if document, err = operations.Apply(document); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return document, nil
	case kind == types.StrategicMergePatchType && x.builtIn():
		object, err := typed.New(x.GroupVersionKind)
		if err != nil {
			return nil, err
		}
		return strategicpatch.StrategicMergePatch(document, patch, object)
	default:
		return nil, failure(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
	}
}

// view is an object as its URL shows it.
func (x *request) view(object *unstructured.Unstructured) (any, error) {
	if x.Subresource != "scale" {
		return object, nil
	}
	replicas, found, _ := unstructured.NestedInt64(object.Object, fieldsOf(x.Scale.Replicas)...)
	if !found && x.Method == http.MethodGet {
		return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", x.Scale.Replicas))
	}
	scale := autoscalingv1.Scale{TypeMeta: metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "Scale"},
		ObjectMeta: metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace(), UID: object.GetUID(),
			ResourceVersion: object.GetResourceVersion(), CreationTimestamp: object.GetCreationTimestamp()},
		Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas)}}
	running, _, _ := unstructured.NestedInt64(object.Object, fieldsOf(x.Scale.StatusReplicas)...)
	scale.Status.Replicas = int32(running)
	selector := fieldsOf(x.Scale.Selector)
	scale.Status.Selector, _, _ = unstructured.NestedString(object.Object, selector...)
	if labels, found, _ := unstructured.NestedStringMap(object.Object, append(selector, "matchLabels")...); found {
		scale.Status.Selector = metav1.FormatLabelSelector(metav1.SetAsLabelSelector(labels))
	}
	return scale, nil
}

// fieldsOf splits a path such as .spec.replicas.
func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// shown returns an object or a list in the form that the client requests: the whole object or, as for the
// garbage collector, only its metadata.
func (x *request) shown(body any) any {
	if !strings.Contains(x.Header.Get("Accept"), "as="+metadataKind) {
		return body
	}
	partial := func(whole map[string]any, kind string) map[string]any {
		return map[string]any{"apiVersion": metav1.SchemeGroupVersion.String(), "kind": kind, "metadata": whole["metadata"]}
	}
	switch body := body.(type) {
	case *unstructured.Unstructured:
		return partial(body.Object, metadataKind)
	case *unstructured.UnstructuredList:
		items := []any{}
		for _, item := range body.Items {
			items = append(items, partial(item.Object, metadataKind))
		}
		list := partial(body.Object, metadataKind+"List")
		list["items"] = items
		return list
	}
	return body
}

const metadataKind = "PartialObjectMetadata"

// scaled returns an object with the number of replicas of a Scale, and its version.
func (x *request) scaled(before *unstructured.Unstructured, sent []byte) (*unstructured.Unstructured, error) {
	var scale autoscalingv1.Scale
	if err := json.Unmarshal(sent, &scale); err != nil {
		return nil, err
	}
	object := before.DeepCopy()
	object.SetUID(scale.UID)
	object.SetResourceVersion(scale.ResourceVersion)
	return object, unstructured.SetNestedField(object.Object, int64(scale.Spec.Replicas), fieldsOf(x.Scale.Replicas)...)
}
