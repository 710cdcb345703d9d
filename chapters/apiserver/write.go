package main

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// create answers a POST.
func (s *server) create(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	isDryRun, err := hasDryRun(r.URL.Query()["dryRun"])
	if err != nil {
		return err
	}
	sent, err := readObject(w, r)
	if err != nil {
		return err
	}
	o := toHub(sent)
	if o.GetResourceVersion() != "" {
		return badRequest("resourceVersion should not be set on objects to be created")
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(generateName(o.GetGenerateName()))
	}
	r.name = o.GetName()
	if err := s.checkNamespace(r.Context(), r); err != nil {
		return err
	}
	created, err := s.storage.write(r.key(), isDryRun, func(current object, all map[key]object) (object, error) {
		if current != nil {
			return nil, apierrors.NewAlreadyExists(r.groupResource(), r.name)
		}
		return s.fresh(r, o, all)
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusCreated, r.represent(as, created))
}

// fresh makes an object what it is on its first day.
func (s *server) fresh(r *request, o object, all map[key]object) (object, error) {
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(now())
	o.SetGeneration(1)
	o.SetDeletionTimestamp(nil)
	o.SetDeletionGracePeriodSeconds(nil)
	setDefaults(o)
	if !isApply(r) {
		s.managers.updated(r, nil, o)
	}
	return o, validate(r.kind, o, nil, all)
}

// update answers a PUT.
func (s *server) update(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	isDryRun, err := hasDryRun(r.URL.Query()["dryRun"])
	if err != nil {
		return err
	}
	sent, err := readObject(w, r)
	if err != nil {
		return err
	}
	if sent.GetResourceVersion() == "" {
		missing := field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update")
		return apierrors.NewInvalid(r.kind.groupKind(), r.name, field.ErrorList{missing})
	}
	var updated object
	_, err = s.storage.write(r.key(), isDryRun, func(current object, all map[key]object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.groupResource(), r.name)
		}
		updated, err = s.replaced(r, toHub(sent), current, all)
		return unlessGone(updated), err
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, r.represent(as, updated))
}

// replaced makes o, which is made from what a client sent, the next state of current. What
// the server alone decides stays.
func (s *server) replaced(r *request, o, current object, all map[key]object) (object, error) {
	if o.GetUID() != "" && o.GetUID() != current.GetUID() {
		return nil, apierrors.NewConflict(r.groupResource(), r.name, fmt.Errorf("its UID is %s, not %s", current.GetUID(), o.GetUID()))
	}
	if o.GetResourceVersion() != "" && o.GetResourceVersion() != current.GetResourceVersion() {
		return nil, apierrors.NewConflict(r.groupResource(), r.name, errModified)
	}
	o.SetUID(current.GetUID())
	o.SetResourceVersion(current.GetResourceVersion())
	o.SetCreationTimestamp(current.GetCreationTimestamp())
	o.SetDeletionTimestamp(current.GetDeletionTimestamp())
	o.SetDeletionGracePeriodSeconds(current.GetDeletionGracePeriodSeconds())
	o.SetGeneration(current.GetGeneration())
	setDefaults(o)
	if !reflect.DeepEqual(specOf(o), specOf(current)) {
		o.SetGeneration(current.GetGeneration() + 1)
	}
	if !isApply(r) {
		s.managers.updated(r, current, o)
	}
	return o, validate(r.kind, o, current, all)
}

// unlessGone returns nil for an object that is being deleted and waits for nobody any more.
func unlessGone(o object) object {
	if o == nil || o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		return nil
	}
	return o
}

// checkNamespace returns an error unless the namespace takes new objects. The API server
// looks for its own kinds; here no admission plugin runs. Without the look, objects would
// come into a namespace while it is emptied, and stay in one that is gone.
func (s *server) checkNamespace(ctx context.Context, r *request) error {
	if !r.kind.namespaced {
		return nil
	}
	namespace, err := s.namespace(ctx, r.namespace)
	if err != nil {
		return err
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	refusal := apierrors.NewForbidden(r.groupResource(), r.name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.namespace))
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", r.namespace), Field: "metadata.namespace",
	})
	return refusal
}

// generateName appends random letters, as the API server does. A name has 63 of them at
// most, so that it fits into a label.
func generateName(prefix string) string {
	const letters, most = 5, 63
	return prefix[:min(len(prefix), most-letters)] + rand.String(letters)
}

// now has no fractions of a second: JSON would drop them.
func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }
