package observer

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	if x.to.kind == nil {
		return x.request.Path
	}
	subject := x.to.kindName()
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
	return cmp.Or(verbs[x.request.Method].wish, strings.ToLower(x.request.Method)) + " " + x.subject()
}

// deed says what came of a request.
func (x *exchange) deed(code int, answer *unstructured.Unstructured) string {
	if code >= http.StatusBadRequest {
		return fmt.Sprintf("%s: %s", x.intent(), why(code, answer))
	}
	if x.to.subresource == "status" && x.request.Method == http.MethodPut {
		return "wrote the status" + x.condition()
	}
	return verbs[x.request.Method].deed + " " + x.subject()
}

// why says why a request was refused: the reason, which is one word on the wire.
func why(code int, answer *unstructured.Unstructured) string {
	switch reason := text(answer, "reason"); metav1.StatusReason(reason) {
	case metav1.StatusReasonConflict:
		return "Conflict, somebody else wrote first"
	case metav1.StatusReasonAlreadyExists:
		return "there is one already"
	case "":
		return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	default:
		return fmt.Sprintf("%d %s", code, reason)
	}
}

// condition says what a status that was sent says of its object.
func (x *exchange) condition() string {
	if x.object == nil {
		return ""
	}
	conditions, _, _ := unstructured.NestedSlice(x.object.Object, "status", "conditions")
	for _, condition := range conditions {
		if condition, ok := condition.(map[string]any); ok && condition["type"] == "Ready" {
			return fmt.Sprintf(" (Ready %v, %v)", condition["status"], condition["reason"])
		}
	}
	return ""
}

// text returns a field of an object that is a text, or "".
func text(object *unstructured.Unstructured, fields ...string) string {
	if object == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(object.Object, fields...)
	return value
}
