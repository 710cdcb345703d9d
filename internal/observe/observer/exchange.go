package observer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/observe/wire"
)

// exchange is one request and its answer. Bodies are decoded when the steps are published.
type exchange struct {
	observer *Observer
	run      *run          // nil outside of a reconcile
	request  trace.Request // without its body
	asked    string        // the text of a list or a watch, "" for others
	began    time.Time
	at       *place
	seq      int64 // of the step that led to the next one

	// The fields below are used while steps are published.
	to     target
	object map[string]any // in the body that was sent, or nil
	first  bool           // of a watch: the list comes first and is not complete yet
}

func (x *exchange) tell(m wire.Message) {
	request := x.request
	request.Status, request.Bytes = m.Code, int64(len(m.Body))
	step := &trace.Step{Part: trace.PartRequest, What: m.What, CauseSeq: x.seq, Request: &request}
	if x.asked != "" {
		step.Part = trace.PartStream
	}
	if x.run != nil {
		step.For = x.run.name()
	}
	switch m.What {
	case trace.Sent:
		if !x.observer.all {
			return
		}
		request.Bytes = 0
	case trace.Received:
		request.Query, request.Status = "", 0
	default:
		step.Took = time.Since(x.began)
	}
	seq := x.observer.record(step, x.at, func(step *trace.Step) { x.finish(step, m) })
	switch m.What {
	case trace.Sent, trace.Opened:
		x.seq = seq
	case trace.Answered:
		x.remember(m)
	}
}

// remember notes the version that a write made, before its event is published. The event may come at
// any moment, and may have come before. The answer to a DELETE has the UID of a deleted object, or the
// version of an object that will be deleted.
func (x *exchange) remember(m wire.Message) {
	if x.request.Method == http.MethodGet || m.Code >= http.StatusBadRequest {
		return
	}
	var written struct {
		metav1.PartialObjectMetadata
		Details struct{ UID types.UID }
	}
	if json.Unmarshal(m.Body, &written) == nil {
		x.observer.own.add(x.to.kindName(), written.ResourceVersion, x.seq)
		x.observer.own.add(x.to.kindName(), string(written.Details.UID), x.seq)
	}
}

func (x *exchange) finish(step *trace.Step, m wire.Message) {
	step.Kind, step.Text = x.to.kindName(), x.asked
	switch m.What {
	case trace.Sent:
		x.object = wire.Decode(m.Body)
		x.know(x.object)
		step.Text, step.Request.Body = x.intent(), x.shown(x.object)
	case trace.Answered:
		x.answered(step, m)
	case trace.Failed: // It may have been carried out for all that.
		step.Text = "no answer: " + m.Err.Error()
		x.addOutcome("no answer to " + x.request.Method + " " + x.subject())
	case trace.Refused, trace.Ended:
		step.Text = end(m)
	case trace.Received:
		x.received(step, m.Body)
	case trace.Listed:
		x.to.kind.listed, x.to.kind.place = step.Seq, place{step.File, step.Func}
	}
	step.Text, step.Key = cut(step.Text, wordsLimit), cmp.Or(step.Key, x.to.key())
}

func (x *exchange) answered(step *trace.Step, m wire.Message) {
	object := wire.Decode(m.Body)
	x.know(object)
	step.Request.Reply, step.Version = x.shown(object), text(object, "metadata", "resourceVersion")
	step.Text = http.StatusText(m.Code)
	if m.Code >= http.StatusBadRequest {
		step.Text = cmp.Or(text(object, "message"), step.Text)
	}
	x.addOutcome(x.outcome(m.Code, object))
}

func (x *exchange) received(step *trace.Step, body []byte) {
	event, content := wire.Event(body)
	object := wire.Metadata(content)
	x.to.kind.place = place{step.File, step.Func}
	step.Text, step.Version = cmp.Or(string(event), "an event that cannot be read"), object.ResourceVersion
	if event == watch.Error {
		step.Text += " " + text(wire.Decode(content), "message")
	}
	if object.Name != "" {
		step.Key, step.For = keyOf(object.Namespace, object.Name), x.observer.belongs(x.to.kind, &object)
	}
	switch {
	case object.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		step.Text += ": the list is complete"
		x.first = false
		x.to.kind.listed = step.Seq
	case !x.first && step.Key != "":
		x.observer.received.add(step.Kind, step.Version, step.Seq)
	}
}

// asked returns the text of a list or a watch.
func asked(query url.Values) string {
	switch {
	case query.Get("sendInitialEvents") == "true":
		return "streaming list, then watch"
	case query.Get("watch") == "true":
		return "watch from version " + query.Get("resourceVersion")
	}
	return "list"
}

// end says why a list was not complete, or why a watch ended.
func end(m wire.Message) string {
	switch {
	case m.Code == 0:
		return "no answer: " + m.Err.Error()
	case m.What == trace.Ended && m.Err == nil:
		return "this process ends it"
	case errors.Is(m.Err, io.EOF):
		return "the API server ended it"
	case m.Err != nil:
		return "broken off: " + m.Err.Error()
	}
	return fmt.Sprintf("%d %s", m.Code, http.StatusText(m.Code))
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

// know takes the name of a created object from the object, because the path of a POST has no name.
func (x *exchange) know(object map[string]any) {
	if x.to.kind != nil {
		x.to.name = cmp.Or(x.to.name, text(object, "metadata", "name"))
	}
}

func (x *exchange) addOutcome(outcome string) {
	if x.run != nil {
		x.run.outcomes = append(x.run.outcomes, outcome)
	}
}

// The intent and the outcome of a request, by its method.
var verbs = map[string]struct{ intent, outcome string }{
	http.MethodGet:    {"get", "asked the server for"},
	http.MethodPost:   {"create", "created"},
	http.MethodPut:    {"update", "updated"},
	http.MethodPatch:  {"patch", "patched"},
	http.MethodDelete: {"delete", "deleted"},
}

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

func (x *exchange) intent() string {
	return cmp.Or(verbs[x.request.Method].intent, strings.ToLower(x.request.Method)) + " " + x.subject()
}

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

func text(object map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(object, fields...)
	return value
}
