package trace

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// What a request is meant to do, and what came of it, by its method.
var verbs = map[string]struct{ wish, deed string }{
	http.MethodGet:    {"get", "asked the server for"},
	http.MethodPost:   {"create", "created"},
	http.MethodPut:    {"update", "updated"},
	http.MethodPatch:  {"patch", "patched"},
	http.MethodDelete: {"delete", "deleted"},
}

// subject names what a request is about.
func (x *exchange) subject() string {
	if x.to.kind == "" {
		return x.request.Path
	}
	subject := x.to.kind
	if x.to.name != "" {
		subject += " " + x.to.name
	}
	if x.to.subresource != "" {
		subject = "the " + x.to.subresource + " of " + subject
	}
	return subject
}

// intent says what a request is sent for.
func (x *exchange) intent() string {
	return verbs[x.request.Method].wish + " " + x.subject()
}

// deed says what came of a request.
func (x *exchange) deed(code int, answer runtime.Object) string {
	if code >= http.StatusBadRequest {
		return fmt.Sprintf("%s: %s", x.intent(), why(code, answer))
	}
	if x.to.subresource == "status" && x.request.Method == http.MethodPut {
		return "wrote the status" + x.condition()
	}
	return verbs[x.request.Method].deed + " " + x.subject()
}

// why says why a request was refused: the reason, which is one word on the wire.
func why(code int, answer runtime.Object) string {
	status, ok := answer.(*metav1.Status)
	switch {
	case ok && status.Reason == metav1.StatusReasonConflict:
		return "Conflict, somebody else wrote first"
	case ok && status.Reason == metav1.StatusReasonAlreadyExists:
		return "there is one already"
	case ok && status.Reason != "":
		return fmt.Sprintf("%d %s", code, status.Reason)
	default:
		return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	}
}

// condition says what a status that was sent says of the Foo.
func (x *exchange) condition() string {
	foo, ok := x.object.(*samplecontrollerv1alpha1.Foo)
	if !ok {
		return ""
	}
	ready := meta.FindStatusCondition(foo.Status.Conditions, samplecontrollerv1alpha1.FooReady)
	if ready == nil {
		return ""
	}
	return fmt.Sprintf(" (Ready %s, %s)", ready.Status, ready.Reason)
}
