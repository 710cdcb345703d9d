package main

import (
	"encoding/json"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// delete answers a DELETE of one object.
func (s *server) delete(w *answerWriter, r *request) error {
	options, err := deleteOptions(r)
	if err != nil {
		return err
	}
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	deleted, isGone, err := s.remove(r, r.key(), options)
	if err != nil {
		return err
	}
	if !isGone {
		return w.send(http.StatusOK, r.represent(as, deleted))
	}
	return w.send(http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: r.name, Group: group, Kind: r.kind.resource, UID: deleted.GetUID()},
	})
}

// deleteCollection answers a DELETE of all that match. The namespace controller sends it
// when a namespace goes. Each object is deleted by itself: one that may not go stops it.
func (s *server) deleteCollection(w *answerWriter, r *request) error {
	options, err := deleteOptions(r)
	if err != nil {
		return err
	}
	selection, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision, err := s.storage.list(r.kind.resource, r.namespace, 0)
	if err != nil {
		return err
	}
	var all []object
	for _, object := range objects {
		if !matches(selection, object) {
			continue
		}
		deleted, _, err := s.remove(r, key{r.kind.resource, object.GetNamespace(), object.GetName()}, options)
		if apierrors.IsNotFound(err) {
			continue // Somebody was faster.
		}
		if err != nil {
			return err
		}
		all = append(all, deleted)
	}
	return w.send(http.StatusOK, r.representList(whole, all, listMeta(revision)))
}

// deleteOptions reads the body, or the query if there is none.
func deleteOptions(r *request) (*metav1.DeleteOptions, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	options := &metav1.DeleteOptions{}
	if len(body) == 0 {
		query := r.URL.Query()
		options.DryRun = query["dryRun"]
		if policy := metav1.DeletionPropagation(query.Get("propagationPolicy")); policy != "" {
			options.PropagationPolicy = &policy
		}
	} else if contentType(r) != runtime.ContentTypeJSON {
		return nil, unsupported(r, runtime.ContentTypeJSON)
	} else if err := json.Unmarshal(body, options); err != nil {
		return nil, badRequest("the body is no DeleteOptions: %v", err)
	}
	if options.OrphanDependents != nil {
		return nil, badRequest("orphanDependents is not supported: use propagationPolicy")
	}
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
	if policy := options.PropagationPolicy; policy != nil && !slices.Contains(policies, *policy) {
		return nil, badRequest("propagationPolicy is %q, and may be one of %q", *policy, policies)
	}
	return options, nil
}

// remove deletes an object, or marks it as deleted if it has finalizers.
func (s *server) remove(r *request, place key, options *metav1.DeleteOptions) (deleted object, isGone bool, err error) {
	isDryRun, err := hasDryRun(options.DryRun)
	if err != nil {
		return nil, false, err
	}
	next, err := s.storage.write(place, isDryRun, func(current object, all map[key]object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.groupResource(), place.name)
		}
		if err := isMet(r.kind, current, options.Preconditions); err != nil {
			return nil, err
		}
		if err := mayDelete(r.kind, current, all); err != nil {
			return nil, err
		}
		deleted = markDeleted(current, options.PropagationPolicy)
		return unlessGone(deleted), nil
	})
	return deleted, next == nil, err
}

// markDeleted returns the object as it is from now on. The first deletion counts: a second
// one changes nothing but the finalizers.
func markDeleted(current object, policy *metav1.DeletionPropagation) object {
	deleted := copyOf(current)
	if deleted.GetDeletionTimestamp() == nil {
		deleted.SetDeletionTimestamp(new(now()))
		deleted.SetDeletionGracePeriodSeconds(new(int64(0)))
		deleted.SetGeneration(deleted.GetGeneration() + 1)
	}
	if policy == nil {
		return deleted
	}
	// The garbage collector sees these two, does what they say, and takes them away.
	finalizers := slices.DeleteFunc(slices.Clone(deleted.GetFinalizers()), func(finalizer string) bool {
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
