package simulation

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fault lasts for a minute. Fields that it does not need are empty.
type fault struct {
	what    string
	refuses string // the operation that the API server rejects
	with    int    // the index of the rejection
	changes *field // the field that a webhook changes in each write
	sets    *field // the field that another controller sets in all objects
	holds   string // how the waiting turns begin, such as the watch of a resource
}

// newFault returns one fault, or none.
func (s *sequence) newFault() fault {
	f := &fields[s.rand.IntN(len(fields))]
	switch s.rand.IntN(6) {
	case 0:
		return fault{what: "no fault"}
	case 1:
		resource := pick(s, []string{"foos", "deployments"})
		return fault{what: "the watch of " + resource + " hangs", holds: "watch of " + resource}
	case 2:
		return fault{what: "a webhook changes " + f.path, changes: f}
	case 3:
		return fault{what: "another controller sets " + f.path, sets: f}
	}
	operation := pick(s, []string{"POST deployments", "PUT deployments", "DELETE deployments", "PUT foos/status", "GET foos"})
	return fault{what: operation + " fails", refuses: operation, with: s.rand.IntN(len(refusals))}
}

// field is a field that the controller sets, with another value; nil removes it.
type field struct {
	resource, path string
	value          any
}

var fields = []field{
	{"deployments", "spec.replicas", int64(7)},
	{"deployments", "spec.template.spec.containers", []any{
		map[string]any{"name": "sidecar", "image": "sidecar:1"}, map[string]any{"name": "nginx", "image": "theirs:2", "args": []any{"kept"}}}},
	{"deployments", "metadata.ownerReferences", nil},
	{"deployments", "metadata.ownerReferences", []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Other", "name": "other", "uid": "other", "controller": true}}},
	{"foos", "status", nil},
	{"foos", "status.availableReplicas", int64(7)},
}

// in reports whether an object's field has the value.
func (f *field) in(object *unstructured.Unstructured) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, strings.Split(f.path, ".")...)
	return reflect.DeepEqual(value, f.value)
}

func (f *field) set(object *unstructured.Unstructured) {
	if path := strings.Split(f.path, "."); f.value == nil {
		unstructured.RemoveNestedField(object.Object, path...)
	} else {
		_ = unstructured.SetNestedField(object.Object, f.value, path...)
	}
}

// faultActs sets the field of another controller in one object.
func (s *sequence) faultActs() bool {
	f := s.lasting.sets
	if f == nil {
		return false
	}
	due := slices.DeleteFunc(s.api.Paths(f.resource), func(path string) bool { return f.in(s.api.Get(path)) })
	return len(due) > 0 && s.change("other", pick(s, due), "sets "+f.path, f.set)
}

// admit changes a write as a webhook does.
func (s *sequence) admit(r *http.Request, x *exchange) {
	if f := s.lasting.changes; f != nil && len(x.body.Object) > 0 && x.target.Resource == f.resource {
		changed := x.body.DeepCopy()
		f.set(changed)
		sent, _ := changed.MarshalJSON()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	}
}

var refusals = []metav1.Status{
	{Code: 403, Message: `admission webhook "deny.example.com" denied the request`},
	{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "ValidatingAdmissionPolicy 'deny.example.com' denied request"},
	{Code: 500, Reason: metav1.StatusReasonInternalError, Message: `failed calling webhook "slow.example.com"`},
	{Code: 429, Reason: metav1.StatusReasonTooManyRequests, Message: "too many requests"},
}

// refusal returns why a request fails before it is stored, or nil.
func (s *sequence) refusal(x *exchange) *apierrors.StatusError {
	which := s.lasting.with
	if x.operation() != s.lasting.refuses {
		if !s.faults || s.resting || !s.chance(10) {
			return nil
		}
		which = s.rand.IntN(len(refusals))
	}
	refused := refusals[which]
	refused.Status = metav1.StatusFailure
	return &apierrors.StatusError{ErrStatus: refused}
}
