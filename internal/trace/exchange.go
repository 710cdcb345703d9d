package trace

import (
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// exchange is one request and its answer. Whoever sends it keeps the bytes; what
// they say is found out when the steps are told.
type exchange struct {
	recorder *Recorder
	run      *run    // nil outside of a reconcile
	request  Request // without its body
	began    time.Time
	place    string
	seq      int64 // of the step that it was sent

	// What follows is used while telling.
	to     target
	object runtime.Object // in the body that was sent, or nil
}

// exchange sends a request that has one answer.
func (t *transport) exchange(request *http.Request, to target) (*http.Response, error) {
	x := &exchange{recorder: t.recorder, run: runOf(request.Context()), request: wire(request, to), began: time.Now(), to: to}
	x.place = x.placeOf()
	var body []byte
	if to.kind != "" {
		body = bodyOf(request)
	}
	x.sent(body)

	response, err := t.next.RoundTrip(request)
	if err != nil {
		x.failed(err)
		return response, err
	}
	code := response.StatusCode
	reply := &reply{ReadCloser: response.Body, done: func(body []byte, read int64) { x.answered(code, body, read) }}
	if to.kind != "" && request.Method != http.MethodGet || code >= http.StatusBadRequest {
		reply.expect(response.ContentLength)
	}
	response.Body = reply
	return response, nil
}

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

// record records a step of the exchange. finish is called when it is told.
func (x *exchange) record(step Step, bytes int, finish func(*Step)) int64 {
	step.Part = PartRequest
	if x.run != nil {
		step.Foo = x.run.foo
	}
	return x.recorder.later(step, bytes, func(step *Step) {
		finish(step)
		step.Kind, step.Key = x.to.kind, x.to.key()
		*step = step.at(x.place)
	})
}

// sent records the request.
func (x *exchange) sent(body []byte) {
	request := x.request
	step := Step{What: Sent, Request: &request}
	if x.run != nil {
		step.CauseSeq = x.run.seq
	}
	x.seq = x.record(step, len(body), func(step *Step) {
		x.object = decode(body)
		x.know(x.object)
		step.Text, step.Request.Body = x.intent(), bodyText(x.object)
		x.begin(step.Seq)
	})
}

// know takes the name of what is made from its object: no path has it.
func (x *exchange) know(object runtime.Object) {
	if x.to.kind == "" || x.to.name != "" || object == nil {
		return
	}
	if accessor, err := meta.Accessor(object); err == nil {
		x.to.name = accessor.GetName()
	}
}

// placeOf is where the code stands that sends such a request.
func (x *exchange) placeOf() string {
	place := "request " + x.request.Method + " " + x.to.kind
	if x.to.subresource != "" {
		place += "/" + x.to.subresource
	}
	_, ok := places[place]
	switch {
	case !ok || x.run == nil:
		return "request"
	case place == "request GET Deployment" && x.run.asked.Load() > 0:
		// After a POST that found one there.
		return "request GET existing"
	default:
		return place
	}
}

// begin remembers a write before its event can arrive.
func (x *exchange) begin(seq int64) {
	writes := &x.recorder.writes
	switch x.request.Method {
	case http.MethodPost, http.MethodPut:
		if x.object != nil {
			writes.begin(x.to.kind, x.to.key(), write{seq: seq, sent: x.object, status: x.to.subresource == "status"})
		}
	case http.MethodDelete:
		if name := x.deleted(); name != "" {
			writes.end(x.to.kind, x.to.key(), seq, name)
		}
	}
}

// deleted names the object that a DELETE is for, if the request says which.
func (x *exchange) deleted() string {
	options, ok := x.object.(*metav1.DeleteOptions)
	if !ok || options.Preconditions == nil || options.Preconditions.UID == nil {
		return ""
	}
	return uidName(x.to.kind, x.to.key(), string(*options.Preconditions.UID))
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
	x.record(Step{What: what, Request: &request, CauseSeq: x.seq, Took: time.Since(x.began)}, bytes, finish)
	if x.run != nil {
		x.run.asked.Add(1)
	}
}

// answered records an answer that was read, or given up.
func (x *exchange) answered(code int, body []byte, read int64) {
	x.end(Answered, code, len(body), read, func(step *Step) {
		object := decode(body)
		x.know(object)
		if x.to.kind != "" {
			step.Request.Reply = bodyText(object)
		}
		step.Text = http.StatusText(code)
		if refusal, ok := object.(*metav1.Status); ok && code >= http.StatusBadRequest && refusal.Message != "" {
			step.Text = cut(refusal.Message, wordsLimit)
		}
		if accessor, err := meta.Accessor(object); err == nil && object != nil {
			step.Version = accessor.GetResourceVersion()
		}
		x.over(code, step.Seq, step.Version)
		x.did(x.deed(code, object))
	})
}

// over notes what the answer says of a write. A DELETE returns no version, and
// counted as a write from its beginning.
func (x *exchange) over(code int, seq int64, version string) {
	writes := &x.recorder.writes
	switch method := x.request.Method; {
	case method == http.MethodGet:
	case method == http.MethodDelete && code >= http.StatusBadRequest:
		writes.forget(x.deleted())
	case method == http.MethodDelete:
	case version != "":
		writes.end(x.to.kind, x.to.key(), seq, versionName(x.to.kind, x.to.key(), version))
	default:
		writes.end(x.to.kind, x.to.key(), 0)
	}
}

func (x *exchange) did(deed string) {
	if x.run != nil {
		x.run.deeds = append(x.run.deeds, deed)
	}
}
