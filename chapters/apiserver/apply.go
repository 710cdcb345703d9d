package main

import (
	"cmp"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// managers note who has set which field (metadata.managedFields), and merge what is applied
// by that. It is the one part of Kubernetes that nobody writes by hand: apimachinery has it.
// What it needs is a schema of each version, and a way to convert.
type managers map[schema.GroupVersionKind]*managedfields.FieldManager

func newManagers(documents *openAPI) (managers, error) {
	fields, err := managedfields.NewTypeConverter(documents.models, false)
	if err != nil {
		return nil, err
	}
	m := managers{}
	for _, kind := range kinds {
		for _, version := range versions {
			gvk := version.WithKind(kind.name)
			m[gvk], err = managedfields.NewDefaultFieldManager(fields, scheme, scheme, scheme, gvk, hub, "", nil)
			if err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// of returns what notes for the kind and the version of a request, and the object as it is
// now: a copy, or an empty one if there is none.
func (m managers) of(r *request, current object) (*managedfields.FieldManager, runtime.Object) {
	gvk := r.version.WithKind(r.kind.name)
	if current != nil {
		return m[gvk], deepCopy(current)
	}
	empty, err := scheme.New(gvk)
	if err != nil {
		panic(err) // There are managers for the kinds of the scheme.
	}
	return m[gvk], empty
}

// update notes in next what a client has set by a write that is no apply. A program that does
// not say its name is known by its User-Agent.
func (m managers) update(r *request, name string, current, next object) object {
	manager, live := m.of(r, current)
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	return manager.UpdateNoErrors(live, next, cmp.Or(name, agent[:min(len(agent), 128)])).(object)
}

// apply answers a PATCH that says which fields a manager wants, and what is in them. Fields
// that it wanted before and leaves out now are removed; those of others stay, or are a
// conflict.
func (s *server) apply(w *answerWriter, r *request, options *metav1.PatchOptions) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	text, err := yaml.YAMLToJSONStrict(body)
	if err != nil {
		return badRequest("the body is no YAML: %v", err)
	}
	if _, err := decode(w, r, text, options.FieldValidation); err != nil {
		return err
	}
	// What is applied stays without a Go type: there a field that is left out would be the
	// same as one that is empty.
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &wanted.Object); err != nil {
		return badRequest("%v", err)
	}
	wanted.SetGroupVersionKind(r.version.WithKind(r.kind.name))
	wanted.SetName(r.name)
	wanted.SetNamespace(r.namespace)
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil && wanted.GetResourceVersion() != "" {
			return nil, apierrors.NewConflict(r.groupResource(), r.name, errModified)
		}
		manager, live := s.managers.of(r, current)
		merged, err := manager.Apply(live, wanted.DeepCopy(), options.FieldManager, ptr.Deref(options.Force, false))
		conflict := apierrors.APIStatus(nil)
		switch {
		case err == nil:
			return to(hub, merged), nil
		case errors.As(err, &conflict):
			return nil, err
		default: // A field that the schema does not have, or a value of another type.
			return nil, badRequest("%v", err)
		}
	})
}
