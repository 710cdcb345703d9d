package main

import (
	"context"
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// reviewer asks the API server whether somebody may do something. So the cluster's roles
// are the only ones, and a new one counts at once: nothing is remembered. A production
// server remembers each answer for some seconds.
type reviewer struct{ client kubernetes.Interface }

func (v reviewer) authorize(ctx context.Context, r *request) error {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: r.user.name, UID: r.user.uid, Groups: r.user.groups, Extra: map[string]authorizationv1.ExtraValue{},
	}}
	for key, values := range r.user.extra {
		review.Spec.Extra[key] = values
	}
	if r.kind == nil {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: r.verb}
	} else {
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: group, Version: r.version, Resource: r.kind.resource,
			Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
		}
	}
	review, err := v.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("ask whether %s may do this: %w", r.user.name, err))
	}
	if review.Status.Allowed {
		return nil
	}
	if r.kind == nil {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("User %q cannot %s path %q", r.user.name, r.verb, r.URL.Path))
	}
	resource := r.kind.groupResource()
	if r.subresource != "" {
		resource.Resource += "/" + r.subresource
	}
	message := fmt.Sprintf("User %q cannot %s resource %q in API group %q", r.user.name, r.verb, resource.Resource, group)
	if r.namespace != "" {
		message += fmt.Sprintf(" in the namespace %q", r.namespace)
	}
	return apierrors.NewForbidden(resource, r.name, errors.New(message))
}
