package observer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// exchange is one request and its answer. Whoever sends it keeps the bytes; what
// they say is found out when the steps are told.
type exchange struct {
	observer *Observer
	run      *run    // nil outside of a reconcile
	request  Request // without its body
	began    time.Time
	at       *place
	seq      int64 // of the step that it was sent

	// What follows is used while telling.
	to     target
	object *unstructured.Unstructured // in the body that was sent, or nil
}

// exchange sends a request that has one answer.
func (t *transport) exchange(request *http.Request, to target) (*http.Response, error) {
	x := &exchange{observer: t.observer, run: runOf(request.Context()), request: wireForm(request, to), began: time.Now(), at: t.observer.here(), to: to}
	if t.observer.all {
		x.sent(request)
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		x.failed(err)
		return response, err
	}
	if !t.observer.all {
		x.end(Answered, response.StatusCode, 0, 0, nil)
		return response, nil
	}
	// What is no JSON may be a stream, which whoever asked for it reads.
	if to.kind == nil || !strings.HasPrefix(response.Header.Get("Content-Type"), runtime.ContentTypeJSON) {
		x.answered(response.StatusCode, nil, max(response.ContentLength, 0))
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	x.answered(response.StatusCode, body, int64(len(body)))
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
	return response, nil
}

// broken is where an answer breaks off, if it does.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, cmp.Or(b.err, io.EOF) }

// bodyOf returns a copy of a request's body. client-go's can always be had again.
func bodyOf(request *http.Request) []byte {
	if request.GetBody == nil || request.ContentLength <= 0 {
		return nil
	}
	again, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer again.Close()
	body := make([]byte, request.ContentLength)
	if _, err := io.ReadFull(again, body); err != nil {
		return nil
	}
	return body
}

// record records a step of the exchange. finish may be nil; it is called when the step
// is told.
func (x *exchange) record(step *Step, bytes int, finish func(*Step)) int64 {
	step.Part = PartRequest
	if x.run != nil {
		step.For = x.run.name()
	}
	return x.observer.record(step, x.at, bytes, func(step *Step) {
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
	step := &Step{What: Sent, Request: &request}
	if x.run != nil {
		step.CauseSeq = x.run.seq
	}
	x.seq = x.record(step, len(body), func(step *Step) {
		x.object = decode(body)
		x.know(x.object)
		step.Text, step.Request.Body = x.intent(), x.shown(x.object)
		x.begin(step.Seq)
	})
}

// others are the fields that are shown of bodies that are no object of the kind.
var others = map[string]Fields{
	"Status":        {"apiVersion": nil, "kind": nil, "status": nil, "message": nil, "reason": nil, "details": nil, "code": nil},
	"DeleteOptions": {"apiVersion": nil, "kind": nil, "preconditions": nil, "propagationPolicy": nil, "gracePeriodSeconds": nil},
}

// shown is what may be shown of a body.
func (x *exchange) shown(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	if object.GetKind() == x.to.kindName() {
		return cut(string(x.observer.render(x.to.kind, object, 16<<20)), bodyLimit)
	}
	fields, ok := others[object.GetKind()]
	if !ok {
		return ""
	}
	body, _ := json.Marshal(fields.of(object.Object))
	return cut(string(body), bodyLimit)
}

// know takes the name of what is made from its object: no path has it.
func (x *exchange) know(object *unstructured.Unstructured) {
	if x.to.kind != nil && x.to.name == "" && object != nil {
		x.to.name = object.GetName()
	}
}

// begin remembers a write before its event can arrive.
func (x *exchange) begin(seq int64) {
	writes := &x.observer.writes
	switch x.request.Method {
	case http.MethodPost, http.MethodPut:
		if x.object != nil {
			field := "spec"
			if x.to.subresource == "status" {
				field = "status"
			}
			writes.begin(x.to.kindName(), x.to.key(), write{seq: seq, sent: x.object, field: field})
		}
	case http.MethodDelete:
		// Its answer has no version. It is known by the UID that it names.
		writes.end(x.to.kindName(), x.to.key(), seq, x.deleted())
	}
}

// deleted names the object that a DELETE is for, "" if the request does not say which.
func (x *exchange) deleted() string {
	if uid := text(x.object, "preconditions", "uid"); uid != "" {
		return uidName(x.to.kindName(), x.to.key(), types.UID(uid))
	}
	return ""
}

// failed records a request without an answer. It may have been carried out for all
// that.
func (x *exchange) failed(err error) {
	problem := cut("no answer: "+err.Error(), wordsLimit)
	x.end(Failed, 0, 0, 0, func(step *Step) {
		step.Text = problem
		x.over(0, 0, "")
		x.did("no answer to " + x.request.Method + " " + x.subject())
	})
}

// end records how the exchange ended.
func (x *exchange) end(what string, code, bytes int, read int64, finish func(*Step)) {
	request := x.request
	request.Status, request.Bytes = code, read
	x.record(&Step{What: what, Request: &request, CauseSeq: x.seq, Took: time.Since(x.began)}, bytes, finish)
	if x.run != nil {
		x.run.asked.Add(1)
	}
}

// answered records an answer, and as much of its body as came.
func (x *exchange) answered(code int, body []byte, read int64) {
	x.end(Answered, code, len(body), read, func(step *Step) {
		object := decode(body)
		x.know(object)
		if x.to.kind != nil {
			step.Request.Reply = x.shown(object)
		}
		step.Text = http.StatusText(code)
		if message := text(object, "message"); message != "" && code >= http.StatusBadRequest {
			step.Text = cut(message, wordsLimit)
		}
		step.Version = text(object, "metadata", "resourceVersion")
		x.over(code, step.Seq, step.Version)
		x.did(x.deed(code, object))
	})
}

// over notes what the answer says of a write. A DELETE returns no version, and
// counted as a write from its beginning.
func (x *exchange) over(code int, seq int64, version string) {
	writes, kind, key := &x.observer.writes, x.to.kindName(), x.to.key()
	switch method := x.request.Method; {
	case method == http.MethodGet:
	case method == http.MethodDelete && code >= http.StatusBadRequest:
		delete(writes.seq, x.deleted())
	case method == http.MethodDelete:
	case version != "":
		writes.end(kind, key, seq, versionName(kind, key, version))
	default:
		writes.end(kind, key, 0, "")
	}
}

func (x *exchange) did(deed string) {
	if x.run != nil {
		x.run.deeds = append(x.run.deeds, deed)
	}
}
