package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
)

const (
	mergeType = string(types.MergePatchType)
	applyType = string(types.ApplyYAMLPatchType)
)

// patch answers a PATCH. A merge patch is applied to the object as it is, and again if that has
// changed meanwhile, so it never conflicts, unless it says what it was made from.
func (s *server) patch(w *answerWriter, r *request) error {
	options, err := writeOptions(r)
	if err != nil {
		return err
	}
	// kubectl sends a strategic merge patch to what it knows from Kubernetes itself. For
	// others it asks, or tries and takes 415 for an answer.
	if contentType(r) != mergeType && !isApply(r) {
		return unsupported(r, mergeType+" or "+applyType)
	}
	// JSON is YAML, and what kubectl and client-go send to apply. In YAML proper, 30 kB and
	// 7,000 times an alias for them would make 210 MB.
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	// Of a key that comes twice, a merge would take the last one without a word.
	if _, err := decode(r, body, options.FieldValidation); err != nil {
		return err
	}
	if isApply(r) {
		return s.apply(w, r, options, body)
	}
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.kind.groupResource(), r.name)
		}
		// The client's patch is for what the client sees: its version.
		document, err := json.Marshal(to(r.version, current))
		if err != nil {
			return nil, err
		}
		text, err := jsonpatch.MergePatch(document, body)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		sent, err := decode(r, text, options.FieldValidation)
		if err != nil {
			return nil, err
		}
		return to(hub, sent), nil
	})
}

func isApply(r *request) bool { return r.verb == "patch" && contentType(r) == applyType }

// managers note who has set which field (metadata.managedFields), and merge what is applied
// by that. It is the one part of Kubernetes that is not written by hand: apimachinery has it.
// What it needs is a schema of each version, and a way to convert.
type managers map[schema.GroupVersionKind]*managedfields.FieldManager

var fieldManagers = func() managers {
	fields, err := managedfields.NewTypeConverter(models, false)
	utilruntime.Must(err)
	m := managers{}
	for _, kind := range kinds {
		for _, version := range versions {
			gvk := version.WithKind(kind.name)
			m[gvk], err = managedfields.NewDefaultFieldManager(fields, scheme, scheme, scheme, gvk, hub, "", nil)
			utilruntime.Must(err)
		}
	}
	return m
}()

// of returns what notes for the kind and the version of a request, and the object as it is
// now: a copy, or an empty one if there is none.
func (m managers) of(r *request, current object) (*managedfields.FieldManager, runtime.Object) {
	gvk := r.version.WithKind(r.kind.name)
	if current != nil {
		return m[gvk], deepCopy(current)
	}
	empty, err := scheme.New(gvk)
	utilruntime.Must(err)
	return m[gvk], empty
}

// update notes in next what a client has set by a write that is no apply. A program that does
// not say its name is known by its User-Agent, as far as that can be a name.
func (m managers) update(r *request, name string, current, next object) object {
	manager, live := m.of(r, current)
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	printable := ""
	for _, char := range agent {
		if unicode.IsPrint(char) && len(printable)+utf8.RuneLen(char) <= metav1validation.FieldManagerMaxLength {
			printable += string(char)
		}
	}
	return manager.UpdateNoErrors(live, next, cmp.Or(name, printable)).(object)
}

// apply answers a PATCH that says which fields a manager wants, and what is in them. Fields
// that it wanted before and leaves out now are removed; those of others stay, or are a
// conflict.
func (s *server) apply(w *answerWriter, r *request, options *metav1.PatchOptions, body []byte) error {
	// What is applied stays without a Go type: there a field that is left out would be the
	// same as one that is empty.
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &wanted.Object); err != nil {
		return badRequest("%v", err)
	}
	wanted.SetGroupVersionKind(r.version.WithKind(r.kind.name))
	wanted.SetName(r.name)
	wanted.SetNamespace(r.namespace)
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil && wanted.GetResourceVersion() != "" {
			return nil, apierrors.NewConflict(r.kind.groupResource(), r.name, errModified)
		}
		manager, live := fieldManagers.of(r, current)
		merged, err := manager.Apply(live, wanted.DeepCopy(), options.FieldManager, ptr.Deref(options.Force, false))
		if err == nil {
			return to(hub, merged), nil
		}
		if conflict := apierrors.APIStatus(nil); errors.As(err, &conflict) {
			return nil, err
		}
		// A field that the schema does not have, or a value of another type.
		return nil, badRequest("%v", err)
	})
}
