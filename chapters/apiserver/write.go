package main

import (
	"fmt"
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// create answers a POST.
func (s *server) create(w *answerWriter, r *request) error {
	sent, options, err := readObject(w, r)
	if err != nil {
		return err
	}
	if sent.GetResourceVersion() != "" {
		return badRequest("resourceVersion should not be set on objects to be created")
	}
	if prefix := sent.GetGenerateName(); sent.GetName() == "" && prefix != "" {
		sent.SetName(generateName(prefix))
	}
	r.name = sent.GetName()
	return s.put(w, r, options, func(current object) (object, error) {
		if current != nil {
			return nil, apierrors.NewAlreadyExists(r.groupResource(), r.name)
		}
		return to(hub, sent), nil
	})
}

// update answers a PUT.
func (s *server) update(w *answerWriter, r *request) error {
	sent, options, err := readObject(w, r)
	if err != nil {
		return err
	}
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.groupResource(), r.name)
		}
		return to(hub, sent), nil
	})
}

// readObject reads the object that a client sends, and the query. A PatchOptions has what
// the options of the others have.
func readObject(w *answerWriter, r *request) (object, *metav1.PatchOptions, error) {
	options, err := writeOptions(r)
	if err != nil {
		return nil, nil, err
	}
	if contentType(r) != runtime.ContentTypeJSON {
		return nil, nil, unsupported(r, runtime.ContentTypeJSON)
	}
	body, err := readBody(r)
	if err != nil {
		return nil, nil, err
	}
	o, err := decode(w, r, body, options.FieldValidation)
	return o, options, err
}

func writeOptions(r *request) (*metav1.PatchOptions, error) {
	options := &metav1.PatchOptions{}
	if err := readQuery(r, options); err != nil {
		return nil, err
	}
	return options, invalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(options, types.PatchType(contentType(r))))
}

// put stores what next makes of the object as it is, and answers with it. next is called while
// nothing else is written, with nil if there is no such object, and returns a new one.
func (s *server) put(w *answerWriter, r *request, options *metav1.PatchOptions, next func(current object) (object, error)) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	// May there be a new one? The API server knows, and may take a while, so ask before the
	// write.
	isNew := false
	if r.verb == "create" || isApply(r) {
		s.storage.read(func(_ int64, all map[key]object) { isNew = all[r.key()] == nil })
	}
	if isNew {
		if err := s.mayCreate(r); err != nil {
			return err
		}
	}
	code := http.StatusOK
	var answer object
	err = s.storage.write(r.key(), len(options.DryRun) > 0, func(current object, all map[key]object) (object, error) {
		if answer, err = next(current); err != nil {
			return nil, err
		}
		switch {
		case current != nil:
			err = prepareForUpdate(r.kind, answer, current)
		case isNew:
			code = http.StatusCreated
			prepareForCreate(answer)
		default: // It was deleted just now.
			err = apierrors.NewConflict(r.groupResource(), r.name, errModified)
		}
		if err != nil {
			return nil, err
		}
		if !isApply(r) {
			answer = s.managers.update(r, options.FieldManager, current, answer)
		}
		return unlessGone(answer), validate(r.kind, answer, current, all)
	})
	if err != nil {
		return err
	}
	return w.send(code, r.represent(as, answer))
}

// prepareForCreate makes an object what it is on its first day.
func prepareForCreate(o object) {
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(metav1.Now())
	o.SetGeneration(1)
	o.SetDeletionTimestamp(nil)
	o.SetDeletionGracePeriodSeconds(nil)
	scheme.Default(o)
}

// prepareForUpdate makes an object the next state of current. What the server alone decides
// stays. A resourceVersion that is missing stays missing, and validate refuses that.
func prepareForUpdate(k *kind, o, current object) error {
	if err := checkVersion(k, current, string(o.GetUID()), o.GetResourceVersion()); err != nil {
		return err
	}
	o.SetUID(current.GetUID())
	o.SetCreationTimestamp(current.GetCreationTimestamp())
	o.SetDeletionTimestamp(current.GetDeletionTimestamp())
	o.SetDeletionGracePeriodSeconds(current.GetDeletionGracePeriodSeconds())
	o.SetGeneration(current.GetGeneration())
	scheme.Default(o)
	if !reflect.DeepEqual(k.spec(o), k.spec(current)) {
		o.SetGeneration(current.GetGeneration() + 1)
	}
	return nil
}

// unlessGone returns nil for an object that is being deleted and waits for nobody any more.
func unlessGone(o object) object {
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		return nil
	}
	return o
}

// mayCreate returns an error unless the client may create an object, which for an apply it
// has not asked, and the namespace takes one. The API server looks for its own kinds; here
// no admission plugin runs. Without the look, objects would come into a namespace while it is
// emptied, and stay in one that is gone.
func (s *server) mayCreate(r *request) error {
	if isApply(r) {
		create := *r
		create.verb = "create"
		if err := s.authorize(r.Context(), &create); err != nil {
			return err
		}
	}
	if !r.kind.namespaced {
		return nil
	}
	namespace, err := s.namespace(r.Context(), r.namespace)
	if err != nil || namespace.DeletionTimestamp == nil {
		return err
	}
	refused := apierrors.NewForbidden(r.groupResource(), r.name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.namespace))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", r.namespace), Field: "metadata.namespace",
	})
	return refused
}

// generateName appends random letters, as the API server does. A name has 63 of them at
// most, so that it fits into a label.
func generateName(prefix string) string {
	const letters, most = 5, 63
	return prefix[:min(len(prefix), most-letters)] + rand.String(letters)
}
