package main

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/yaml"
)

// managers note who has set which field (metadata.managedFields), and merge what is applied
// by that. It is the one part of Kubernetes that nobody writes by hand: apimachinery has it.
// What it needs is a schema of each version, and a way to convert.
type managers map[schema.GroupVersionKind]*managedfields.FieldManager

func newManagers(documents *openAPI) (managers, error) {
	types, err := managedfields.NewTypeConverter(documents.models, false)
	if err != nil {
		return nil, err
	}
	m := managers{}
	for _, kind := range kinds {
		for _, version := range versions {
			gvk := kind.gvk(version)
			m[gvk], err = managedfields.NewDefaultFieldManager(types, converter{}, converter{}, converter{}, gvk, kind.gvk(hub).GroupVersion(), "", nil)
			if err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// updated notes in after what the client has set by a write that is no apply. before is nil
// for a new object.
func (m managers) updated(r *request, before, after object) {
	gvk := r.kind.gvk(r.version)
	live := empty(gvk)
	if before != nil {
		live = toUnstructured(fromHub(before, r.version))
	}
	next := toUnstructured(fromHub(after, r.version))
	noted := m[gvk].UpdateNoErrors(live, next, managerOf(r))
	after.SetManagedFields(noted.(metav1.Object).GetManagedFields())
}

// managerOf names the client. A program that does not say its name is known by its
// User-Agent.
func managerOf(r *request) string {
	if name := r.URL.Query().Get("fieldManager"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	return name[:min(len(name), 128)]
}

// apply answers a PATCH that says which fields a manager wants, and what is in them. Fields
// that it wanted before and leaves out now are removed; those of others stay, or are a
// conflict.
func (s *server) apply(w *answerWriter, r *request, as form, isDryRun bool) error {
	manager := r.URL.Query().Get("fieldManager")
	if manager == "" || len(manager) > 128 {
		return badRequest("fieldManager is required for apply, with 128 characters at most")
	}
	wanted, err := readApplied(w, r)
	if err != nil {
		return err
	}
	// A new object needs a namespace that takes it. Its look-up may take a while, so it
	// comes before the write.
	isNew := s.storage.read(func(_ int64, all map[key]object) error {
		if all[r.key()] == nil {
			return apierrors.NewNotFound(r.groupResource(), r.name)
		}
		return nil
	}) != nil
	if isNew {
		if err := s.checkNamespace(r.Context(), r); err != nil {
			return err
		}
	}
	var applied object
	code := http.StatusOK
	_, err = s.storage.write(r.key(), isDryRun, func(current object, all map[key]object) (object, error) {
		// It was deleted just now, or whoever sent a version thinks that it is there.
		if current == nil && (!isNew || wanted.GetResourceVersion() != "") {
			return nil, apierrors.NewConflict(r.groupResource(), r.name, errModified)
		}
		merged, err := s.managers.merge(r, current, wanted, manager)
		if err != nil {
			return nil, err
		}
		if current == nil {
			code = http.StatusCreated
			applied, err = s.fresh(r, merged, all)
		} else {
			applied, err = s.replaced(r, merged, current, all)
		}
		return unlessGone(applied), err
	})
	if err != nil {
		return err
	}
	return w.send(code, r.represent(as, applied))
}

// readApplied reads what is applied. It stays without a Go type: there a field that is left
// out would be the same as one that is empty.
func readApplied(w *answerWriter, r *request) (*unstructured.Unstructured, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSONStrict(body)
	if err != nil {
		return nil, badRequest("the body is no YAML: %v", err)
	}
	if _, err := decode(w, r, text); err != nil {
		return nil, err
	}
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &wanted.Object); err != nil {
		return nil, badRequest("%v", err)
	}
	wanted.SetGroupVersionKind(r.kind.gvk(r.version))
	wanted.SetName(r.name)
	wanted.SetNamespace(r.namespace)
	return wanted, nil
}

// merge returns current with what the manager wants.
func (m managers) merge(r *request, current object, wanted *unstructured.Unstructured, manager string) (object, error) {
	gvk := r.kind.gvk(r.version)
	live := empty(gvk)
	if current != nil {
		live = toUnstructured(fromHub(current, r.version))
	}
	force := r.URL.Query().Get("force") == "true"
	merged, err := m[gvk].Apply(live, wanted.DeepCopy(), manager, force)
	if _, isStatus := err.(apierrors.APIStatus); err != nil && !isStatus {
		// A field that the schema does not have, or a value of another type.
		err = badRequest("%v", err)
	}
	if err != nil {
		return nil, err
	}
	return hubOf(merged)
}

// converter converts for the managers, which know objects only as maps.
type converter struct{}

// ConvertToVersion is runtime.ObjectConvertor's.
func (converter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	target, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok {
		return nil, runtime.NewNotRegisteredErrForKind("restaurant", from)
	}
	if target == from {
		return in, nil
	}
	o, err := hubOf(in)
	if err != nil {
		return nil, err
	}
	return toUnstructured(fromHub(o, target.Version)), nil
}

// Convert and ConvertFieldLabel are never called.
func (converter) Convert(_, _, _ any) error { panic("not needed") }

func (converter) ConvertFieldLabel(schema.GroupVersionKind, string, string) (label, value string, err error) {
	panic("not needed")
}

// Default does nothing: setDefaults comes later.
func (converter) Default(runtime.Object) {}

// New returns an object without fields.
func (converter) New(gvk schema.GroupVersionKind) (runtime.Object, error) { return empty(gvk), nil }

func empty(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

func toUnstructured(o object) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err) // Each of the four types can be written as a map.
	}
	return &unstructured.Unstructured{Object: fields}
}

// hubOf makes an object of a map, in the version that is stored.
func hubOf(in runtime.Object) (object, error) {
	typed, err := scheme.New(in.GetObjectKind().GroupVersionKind())
	if err != nil {
		return nil, err
	}
	fields := in.(*unstructured.Unstructured).Object
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, typed); err != nil {
		return nil, badRequest("%v", err)
	}
	return toHub(typed.(object)), nil
}
