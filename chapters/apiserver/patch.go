package main

import (
	"cmp"
	"encoding/json"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
)

const mergeType, applyType = string(types.MergePatchType), string(types.ApplyYAMLPatchType)

// strict refuses unknown fields, and keys that come twice.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{Strict: true})

// decode makes an object of JSON. It may leave out what the URL says: kind and name.
func decode(r *request, body []byte) (*topping, error) {
	decoded, got, err := strict.Decode(body, &kind, nil)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	t, ok := decoded.(*topping)
	if !ok || *got != kind {
		return nil, badRequest("the object is a %s, and the URL of a %s", got, kind)
	}
	t.GetObjectKind().SetGroupVersionKind(kind)
	if t.Name == "" {
		t.Name = r.name
	}
	if r.name != "" && t.Name != r.name {
		return nil, badRequest("the name of the object (%s) does not match the name on the URL (%s)", t.Name, r.name)
	}
	return t, nil
}

// bodies are the types that a client may send. What kubectl and client-go apply is JSON, which is YAML.
// In other YAML, 7,000 aliases for 30 kB would make 210 MB.
var bodies = map[string][]string{
	"create": {runtime.ContentTypeJSON}, "update": {runtime.ContentTypeJSON}, "delete": {runtime.ContentTypeJSON},
	"patch": {mergeType, applyType},
}

func isApply(r *request) bool { return r.verb == "patch" && contentType(r) == applyType }

// merge applies a merge patch. It never conflicts, unless it says what it was made from.
func merge(r *request, body []byte, current *topping) (*topping, error) {
	document, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.MergePatch(document, body)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return decode(r, text)
}

// apply merges the fields that a manager wants. Those that it wanted before and leaves out now are
// removed; those of others stay, or are a conflict.
func apply(r *request, options *metav1.PatchOptions, body []byte, current *topping) (*topping, error) {
	// Without a Go type: there a field that is left out would be the same as one that is empty.
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &wanted.Object); err != nil {
		return nil, badRequest("%v", err)
	}
	if current == nil && wanted.GetResourceVersion() != "" {
		return nil, apierrors.NewConflict(resource, r.name, errModified)
	}
	wanted.SetGroupVersionKind(kind)
	wanted.SetName(r.name)
	merged, err := fieldManager.Apply(live(current), wanted, options.FieldManager, ptr.Deref(options.Force, false))
	switch {
	case err == nil:
		return merged.(*topping), nil
	case apierrors.IsConflict(err):
		return nil, err
	}
	return nil, badRequest("%v", err) // a field that the schema does not have, or a value of another type
}

// fieldManager notes who has set which field (metadata.managedFields), and merges by that. This one
// part is not by hand: apimachinery has it.
var fieldManager = func() *managedfields.FieldManager {
	fields, err := managedfields.NewTypeConverter(models, false)
	utilruntime.Must(err)
	m, err := managedfields.NewDefaultFieldManager(fields, scheme, scheme, scheme, kind, version, "", nil)
	utilruntime.Must(err)
	return m
}()

// noteManager is for a write that is no apply. A client without a name is known by its User-Agent.
// validate refuses one that cannot be a name.
func noteManager(r *request, name string, current, next *topping) *topping {
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	return fieldManager.UpdateNoErrors(live(current), next, cmp.Or(name, agent)).(*topping)
}

// live returns a copy of the object, or an empty one.
func live(current *topping) *topping { return deepCopy(cmp.Or(current, &topping{})) }
