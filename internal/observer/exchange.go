package observer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/trace"
)

// exchange is one request and its answer. The client that sends it keeps the bytes; what
// they say is found out when the steps are published.
type exchange struct {
	observer *Observer
	run      *run          // nil outside of a reconcile
	request  trace.Request // without its body
	began    time.Time
	at       *place
	seq      int64 // of the step that it was sent

	// What follows is used while steps are published.
	to     target
	object map[string]any // in the body that was sent, or nil
}

// exchange sends a request that has one answer.
func (t *transport) exchange(request *http.Request, to target) (*http.Response, error) {
	x := &exchange{observer: t.observer, run: runOf(request.Context()), request: wireForm(request, to), began: time.Now(), at: t.observer.here(), to: to}
	if t.observer.all {
		x.sent(request)
	}
	response, err := t.next.RoundTrip(request)
	switch {
	case err != nil:
		x.failed(err)
	case !t.observer.all:
		x.end(trace.Answered, response.StatusCode, nil, 0, nil)
	case to.kind == nil || !strings.HasPrefix(response.Header.Get("Content-Type"), runtime.ContentTypeJSON):
		// What is no JSON may be a stream, which the client that asked for it reads.
		x.answered(response.StatusCode, nil, max(response.ContentLength, 0))
	default:
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		x.answered(response.StatusCode, body, int64(len(body)))
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
	}
	return response, err
}

// broken is where an answer breaks off, if it does.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, cmp.Or(b.err, io.EOF) }

// bodyOf returns a copy of a request's body, as far as it can be read. client-go's can
// always be had again.
func bodyOf(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	again, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer again.Close()
	body, _ := io.ReadAll(again)
	return body
}

// record records a step of the exchange. finish may be nil; it is called when the step
// is published.
func (x *exchange) record(step *trace.Step, body []byte, finish func(*trace.Step)) int64 {
	step.Part = trace.PartRequest
	if x.run != nil {
		step.For = x.run.name()
	}
	return x.observer.record(step, x.at, func(step *trace.Step) {
		if finish != nil {
			finish(step)
		}
		step.Kind, step.Key = x.to.kindName(), x.to.key()
	})
}

// sent records the request.
func (x *exchange) sent(from *http.Request) {
	var body []byte
	if x.to.kind != nil {
		body = bodyOf(from)
	}
	request := x.request
	step := &trace.Step{What: trace.Sent, Request: &request}
	if x.run != nil {
		step.CauseSeq = x.run.seq
	}
	x.seq = x.record(step, body, func(step *trace.Step) {
		x.object = decode(body)
		x.know(x.object)
		step.Text, step.Request.Body = x.intent(), x.shown(x.object)
	})
}

// others are the fields that are shown of bodies that are no object of the kind.
var others = map[string]Fields{
	"Status":        {"apiVersion": nil, "kind": nil, "status": nil, "message": nil, "reason": nil, "details": nil, "code": nil},
	"DeleteOptions": {"apiVersion": nil, "kind": nil, "preconditions": nil, "propagationPolicy": nil, "gracePeriodSeconds": nil},
}

// shown is what may be shown of a body.
func (x *exchange) shown(object map[string]any) string {
	var body []byte
	kind := text(object, "kind")
	if fields, ok := others[kind]; ok && x.to.kind != nil {
		body, _ = json.Marshal(fields.of(object))
	} else if kind != "" && kind == x.to.kindName() {
		body = x.observer.render(x.to.kind, object, 16<<20)
	}
	return cut(string(body), bodyLimit)
}

// know takes the name of what is made from its object: no path has it.
func (x *exchange) know(object map[string]any) {
	if x.to.kind != nil {
		x.to.name = cmp.Or(x.to.name, text(object, "metadata", "name"))
	}
}

// failed records a request without an answer. It may have been carried out for all
// that.
func (x *exchange) failed(err error) {
	x.end(trace.Failed, 0, nil, 0, func(step *trace.Step) {
		step.Text = cut("no answer: "+err.Error(), wordsLimit)
		x.addOutcome("no answer to " + x.request.Method + " " + x.subject())
	})
}

// end records how the exchange ended.
func (x *exchange) end(what string, code int, body []byte, read int64, finish func(*trace.Step)) {
	request := x.request
	request.Status, request.Bytes = code, read
	x.record(&trace.Step{What: what, Request: &request, CauseSeq: x.seq, Took: time.Since(x.began)}, body, finish)
}

// answered records an answer, and as much of its body as came.
func (x *exchange) answered(code int, body []byte, read int64) {
	x.end(trace.Answered, code, body, read, func(step *trace.Step) {
		object := decode(body)
		x.know(object)
		step.Request.Reply = x.shown(object)
		step.Text = http.StatusText(code)
		if message := text(object, "message"); message != "" && code >= http.StatusBadRequest {
			step.Text = cut(message, wordsLimit)
		}
		step.Version = text(object, "metadata", "resourceVersion")
		x.addOutcome(x.outcome(code, object))
	})
	if x.request.Method == http.MethodGet || code >= http.StatusBadRequest {
		return
	}
	// The event of this write may come at any moment, and may have come before. The answer
	// to a DELETE has the UID of what is gone, or the version of what will go.
	var written struct {
		metav1.PartialObjectMetadata
		Details struct{ UID types.UID }
	}
	if json.Unmarshal(body, &written) == nil {
		x.observer.own.add(x.to.kindName(), written.ResourceVersion, x.seq)
		x.observer.own.add(x.to.kindName(), string(written.Details.UID), x.seq)
	}
}

func (x *exchange) addOutcome(outcome string) {
	if x.run != nil {
		x.run.outcomes = append(x.run.outcomes, outcome)
	}
}

// What a request is meant to do, and what came of it, by its method.
var verbs = map[string]struct{ intent, outcome string }{
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
	subject := strings.TrimSpace(x.to.kindName() + " " + x.to.name)
	if x.to.subresource != "" {
		subject = "the " + x.to.subresource + " of " + subject
	}
	return subject
}

// intent says what a request is sent for.
func (x *exchange) intent() string {
	return cmp.Or(verbs[x.request.Method].intent, strings.ToLower(x.request.Method)) + " " + x.subject()
}

// outcome says what came of a request.
func (x *exchange) outcome(code int, answer map[string]any) string {
	switch reason := metav1.StatusReason(text(answer, "reason")); {
	case code < http.StatusBadRequest && x.to.subresource == "status" && x.request.Method == http.MethodPut:
		return "wrote the status" + x.condition()
	case code < http.StatusBadRequest:
		return verbs[x.request.Method].outcome + " " + x.subject()
	case reason == metav1.StatusReasonConflict:
		return x.intent() + ": Conflict, another client wrote first"
	case reason == metav1.StatusReasonAlreadyExists:
		return x.intent() + ": there is one already"
	default:
		return fmt.Sprintf("%s: %d %s", x.intent(), code, cmp.Or(string(reason), http.StatusText(code)))
	}
}

// condition says what a status that was sent says of its object.
func (x *exchange) condition() string {
	conditions, _, _ := unstructured.NestedSlice(x.object, "status", "conditions")
	for _, condition := range conditions {
		if condition, ok := condition.(map[string]any); ok && condition["type"] == "Ready" {
			return fmt.Sprintf(" (Ready %v, %v)", condition["status"], condition["reason"])
		}
	}
	return ""
}

// text returns a field of an object that is a text, or "".
func text(object map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(object, fields...)
	return value
}
