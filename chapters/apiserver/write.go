package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
)

// put answers a POST, a PUT and a PATCH.
func (s *server) put(w http.ResponseWriter, r *request) error {
	options := &metav1.PatchOptions{} // Those of the others have no more.
	if err := readQuery(r, options); err != nil {
		return err
	}
	errs := metav1validation.ValidatePatchOptions(options, types.PatchType(contentType(r)))
	if err := invalid(metav1.Kind("PatchOptions"), "", errs); err != nil {
		return err
	}
	body, err := readBody(w, r, bodies[r.verb]...)
	if err != nil {
		return err
	}
	// Of a key that comes twice, a merge would take the last one without a word.
	sent, err := decode(r, body)
	if err != nil {
		return err
	}
	if r.verb == "create" {
		r.name = sent.Name
	}
	var code int
	answer, err := s.write(r, len(options.DryRun) > 0, func(current *topping) (*topping, error) {
		if current == nil && isApply(r) {
			// The API server has only asked whether the client may patch.
			create := *r
			create.verb = "create"
			if err := s.authorize(r.Context(), &create); err != nil {
				return nil, err
			}
		}
		next, err := makeNext(r, options, body, sent, current)
		if err != nil {
			return nil, err
		}
		if code = http.StatusOK; current == nil {
			code = http.StatusCreated
			prepareForCreate(next)
		} else if err := prepareForUpdate(next, current); err != nil {
			return nil, err
		}
		if !isApply(r) {
			next = noteManager(r, options.FieldManager, current, next)
		}
		return next, validate(next, current)
	})
	if err != nil {
		return err
	}
	return send(w, code, r.represent(answer))
}

// makeNext returns what the client makes of current, which is nil for a new object.
func makeNext(r *request, options *metav1.PatchOptions, body []byte, sent, current *topping) (*topping, error) {
	switch {
	case isApply(r):
		return apply(r, options, body, current)
	case current == nil && r.verb != "create":
		return nil, apierrors.NewNotFound(resource, r.name)
	case r.verb == "patch":
		return merge(r, body, current)
	case r.verb == "create" && current != nil:
		return nil, apierrors.NewAlreadyExists(resource, r.name)
	}
	return deepCopy(sent), nil
}

// write stores what next makes of the object that the request names. Nothing is locked while next works.
// If the object has been changed meanwhile, everything is done again, as long as the request has time.
func (s *server) write(r *request, dryRun bool, next func(current *topping) (*topping, error)) (*topping, error) {
	for r.Context().Err() == nil {
		current := s.storage.get(r.name)
		t, err := next(current)
		if err != nil {
			return nil, err
		}
		stored := t
		if t.DeletionTimestamp != nil && len(t.Finalizers) == 0 {
			stored = nil // Nothing waits any more.
		}
		err = s.storage.write(r.name, dryRun, current, stored, func(all map[string]*topping) error {
			if r.Context().Err() != nil {
				return apierrors.NewTimeoutError("too much else is written", 1)
			}
			return checkBudget(t, all)
		})
		if !errors.Is(err, errChanged) {
			return t, err
		}
	}
	return nil, apierrors.NewTimeoutError("too much else is written", 1)
}

// prepareForCreate makes an object what it is on its first day.
func prepareForCreate(t *topping) {
	t.UID, t.CreationTimestamp, t.Generation = uuid.NewUUID(), metav1.Now(), 1
	t.DeletionTimestamp, t.DeletionGracePeriodSeconds = nil, nil
}

// prepareForUpdate keeps what the server alone decides. validate refuses one without a resourceVersion.
func prepareForUpdate(t, current *topping) error {
	if err := checkVersion(current, t.UID, t.ResourceVersion); err != nil {
		return err
	}
	t.UID, t.CreationTimestamp, t.Generation = current.UID, current.CreationTimestamp, current.Generation
	t.DeletionTimestamp, t.DeletionGracePeriodSeconds = current.DeletionTimestamp, current.DeletionGracePeriodSeconds
	if t.Spec != current.Spec {
		t.Generation++
	}
	return nil
}

// errModified is what every API server says.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// checkVersion returns an error unless an object is the one that a client has seen, as far as it says.
func checkVersion(t *topping, uid types.UID, resourceVersion string) error {
	switch {
	case uid != "" && uid != t.UID:
		return apierrors.NewConflict(resource, t.Name, fmt.Errorf("its UID is %s, not %s", t.UID, uid))
	case resourceVersion != "" && resourceVersion != t.ResourceVersion:
		return apierrors.NewConflict(resource, t.Name, errModified)
	}
	return nil
}

// delete answers a DELETE of one object, with what it was like last.
func (s *server) delete(w http.ResponseWriter, r *request) error {
	options, err := deleteOptions(w, r)
	if err != nil {
		return err
	}
	deleted, err := s.write(r, len(options.DryRun) > 0, func(current *topping) (*topping, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(resource, r.name)
		}
		if expected := options.Preconditions; expected != nil {
			if err := checkVersion(current, ptr.Deref(expected.UID, ""), ptr.Deref(expected.ResourceVersion, "")); err != nil {
				return nil, err
			}
		}
		return markDeleted(current, options.PropagationPolicy), nil
	})
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, r.represent(deleted))
}

func deleteOptions(w http.ResponseWriter, r *request) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	body, err := readBody(w, r, runtime.ContentTypeJSON)
	switch {
	case err != nil:
		return nil, err
	case len(body) == 0:
		err = readQuery(r, options)
	case json.Unmarshal(body, options) != nil:
		err = badRequest("the body is no DeleteOptions")
	}
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 what old clients ask to keep would be deleted
	if options.OrphanDependents != nil {
		return nil, badRequest("orphanDependents is not known here, propagationPolicy is")
	}
	return options, invalid(metav1.Kind("DeleteOptions"), "", metav1validation.ValidateDeleteOptions(options))
}

// markDeleted returns the object as it is from now on. A second deletion changes only the finalizers.
func markDeleted(current *topping, policy *metav1.DeletionPropagation) *topping {
	deleted := deepCopy(current)
	if deleted.DeletionTimestamp == nil {
		deleted.DeletionTimestamp, deleted.DeletionGracePeriodSeconds = new(metav1.Now()), new(int64(0))
		deleted.Generation++
	}
	if policy == nil {
		return deleted
	}
	// The garbage collector sees these two, does what they say, and takes them away.
	deleted.Finalizers = slices.DeleteFunc(deleted.Finalizers, func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	})
	switch *policy {
	case metav1.DeletePropagationForeground:
		deleted.Finalizers = append(deleted.Finalizers, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		deleted.Finalizers = append(deleted.Finalizers, metav1.FinalizerOrphanDependents)
	}
	return deleted
}
