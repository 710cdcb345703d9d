package main

import (
	"encoding/json"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// delete answers a DELETE of one object, with what it was like last.
func (s *server) delete(w *answerWriter, r *request) error {
	options, err := deleteOptions(w, r)
	if err != nil {
		return err
	}
	partial, err := negotiate(r)
	if err != nil {
		return err
	}
	deleted, err := s.remove(r, r.key(), options)
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, r.represent(partial, deleted))
}

// deleteCollection answers a DELETE of all that match. The namespace controller sends it
// when a namespace goes, and again until nothing is left. Each object is deleted by itself: one
// that may not go stops it.
func (s *server) deleteCollection(w *answerWriter, r *request) error {
	options, err := deleteOptions(w, r)
	if err != nil {
		return err
	}
	selection, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision := s.storage.List(r.kind.resource, r.namespace)
	var all []object
	for _, object := range objects {
		if r.Context().Err() != nil {
			return apierrors.NewTimeoutError("there are more to delete", 1)
		}
		if !matches(selection, object) {
			continue
		}
		deleted, err := s.remove(r, key{Resource: r.kind.resource, Namespace: object.GetNamespace(), Name: object.GetName()}, options)
		if apierrors.IsNotFound(err) {
			continue // Another request was faster.
		}
		if err != nil {
			return err
		}
		all = append(all, deleted)
	}
	r.sendList(w, false, all, revision)
	return nil
}

// deleteOptions reads the body, or the query if there is none.
func deleteOptions(w *answerWriter, r *request) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	body, err := readBody(w, r)
	switch {
	case err != nil:
	case len(body) == 0:
		err = readQuery(r.URL.Query(), options)
	case contentType(r) != runtime.ContentTypeJSON:
		err = unsupported(r, runtime.ContentTypeJSON)
	case json.Unmarshal(body, options) != nil:
		err = badRequest("the body is no DeleteOptions")
	}
	if err == nil {
		err = invalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(options)) // Not both of these two.
	}
	//lint:ignore SA1019 old clients send it, and what they ask to keep would be deleted
	if orphan := options.OrphanDependents; orphan != nil {
		options.PropagationPolicy = new(metav1.DeletePropagationBackground)
		if *orphan {
			options.PropagationPolicy = new(metav1.DeletePropagationOrphan)
		}
	}
	return options, err
}

// remove deletes an object, or marks it as deleted if it has finalizers.
func (s *server) remove(r *request, at key, options *metav1.DeleteOptions) (deleted object, err error) {
	err = s.write(r, at, len(options.DryRun) > 0, func(current object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.kind.groupResource(), at.Name)
		}
		if expected := options.Preconditions; expected != nil {
			if err := checkVersion(r.kind, current, string(ptr.Deref(expected.UID, "")), ptr.Deref(expected.ResourceVersion, "")); err != nil {
				return nil, err
			}
		}
		deleted = markDeleted(current, options.PropagationPolicy)
		return deleted, nil
	}, mayDelete)
	return deleted, err
}

// markDeleted returns the object as it is from now on. The first deletion counts: a second
// one changes nothing but the finalizers.
func markDeleted(current object, policy *metav1.DeletionPropagation) object {
	deleted := deepCopy(current)
	if deleted.GetDeletionTimestamp() == nil {
		deleted.SetDeletionTimestamp(new(metav1.Now()))
		deleted.SetDeletionGracePeriodSeconds(new(int64(0)))
		deleted.SetGeneration(deleted.GetGeneration() + 1)
	}
	if policy == nil {
		return deleted
	}
	// The garbage collector sees these two, does what they say, and takes them away.
	finalizers := slices.DeleteFunc(deleted.GetFinalizers(), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	})
	switch *policy {
	case metav1.DeletePropagationForeground:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	}
	deleted.SetFinalizers(finalizers)
	return deleted
}
