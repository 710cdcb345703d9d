package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Transport records each request and its answer, each list and watch and the
// events in it. It fits rest.Config.Wrap.
func (r *Recorder) Transport(next http.RoundTripper) http.RoundTripper {
	if r == nil {
		return next
	}
	return &transport{recorder: r, next: next}
}

type transport struct {
	recorder *Recorder
	next     http.RoundTripper
}

// WrappedRoundTripper lets client-go find what is inside.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request as it is.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	to := targetOf(request.URL.Path)
	if request.Method == http.MethodGet && to.kind != "" && to.name == "" {
		return t.list(request, to)
	}
	return t.exchange(request, to)
}

// target is what a request is about. Its kind is "" for everything but Foos,
// Projects and Deployments.
type target struct{ kind, namespace, name, subresource string }

var kinds = map[string]string{
	samplecontrollerv1alpha1.GroupName + "/foos": "Foo",
	examplesv1alpha1.GroupName + "/projects":     "Project",
	"apps/deployments":                           "Deployment",
}

// targetOf takes a path apart, which may begin with something that a proxy wants:
//
//	/apis/{group}/{version}[/namespaces/{namespace}]/{resource}[/{name}[/{subresource}]]
func targetOf(path string) (to target) {
	_, path, _ = strings.Cut(path, "/apis/")
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return target{}
	}
	group, parts := parts[0], parts[2:]
	if len(parts) > 2 && parts[0] == "namespaces" {
		to.namespace, parts = parts[1], parts[2:]
	}
	if to.kind = kinds[group+"/"+parts[0]]; to.kind == "" {
		return target{}
	}
	if len(parts) > 1 {
		to.name = parts[1]
	}
	if len(parts) > 2 {
		to.subresource = strings.Join(parts[2:], "/")
	}
	return to
}

// key is the object's, or "".
func (t target) key() string {
	if t.name == "" {
		return ""
	}
	return t.namespace + "/" + t.name
}

// wire is a request in its wire form. What a path that nobody knows asks for is
// nobody's business.
func wire(request *http.Request, to target) *Request {
	w := &Request{Method: request.Method, Path: request.URL.Path}
	if to.kind != "" {
		w.Query = request.URL.RawQuery
	}
	return w
}

// exchange is one request and its answer.
type exchange struct {
	recorder *Recorder
	to       target
	run      *run
	sent     Step
	object   runtime.Object // in the body that was sent, or nil
	began    time.Time
}

// exchange sends a request that has one answer.
func (t *transport) exchange(request *http.Request, to target) (*http.Response, error) {
	x := &exchange{recorder: t.recorder, to: to, run: runOf(request.Context()), began: time.Now()}
	x.sent = Step{Part: PartRequest, What: Sent, Request: wire(request, to)}
	if to.kind != "" {
		x.object = decode(bodyOf(request))
		x.sent.Request.Body = body(x.object)
	}
	if accessor, err := meta.Accessor(x.object); err == nil && x.to.name == "" {
		x.to.name = accessor.GetName()
	}
	x.sent.Kind, x.sent.Key = x.to.kind, x.to.key()
	if x.run != nil {
		x.sent.Foo, x.sent.CauseSeq = x.run.key.String(), x.run.seq
	}
	x.sent.Text = x.intent()
	x.sent = x.sent.at(x.place())
	x.sent.Seq = t.recorder.record(x.sent)
	x.begin()

	response, err := t.next.RoundTrip(request)
	if err != nil {
		x.fail(err)
		return response, err
	}
	reply := &reply{ReadCloser: response.Body, done: func(body []byte, read int64) { x.answer(response.StatusCode, body, read) }}
	if to.kind != "" && request.Method != http.MethodGet || response.StatusCode >= http.StatusBadRequest {
		reply.keep = replyLimit
	}
	response.Body = reply
	return response, nil
}

// bodyOf returns a copy of a request's body. client-go's can always be had again.
func bodyOf(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	again, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer again.Close()
	body, err := io.ReadAll(again)
	if err != nil {
		return nil
	}
	return body
}

// place is where the code stands that sends such a request.
func (x *exchange) place() string {
	place := "request " + x.sent.Request.Method + " " + x.to.kind
	if x.to.subresource != "" {
		place += "/" + x.to.subresource
	}
	_, ok := places[place]
	switch {
	case !ok || x.run == nil:
		return "request"
	case place == "request GET Deployment" && len(x.run.said()) > 0:
		// After a POST that found one there.
		return "request GET existing"
	default:
		return place
	}
}

// begin remembers a write before its event can arrive.
func (x *exchange) begin() {
	writes := &x.recorder.writes
	switch x.sent.Request.Method {
	case http.MethodPost, http.MethodPut:
		if x.object != nil {
			writes.begin(x.to.kind, x.to.key(), write{seq: x.sent.Seq, sent: x.object, status: x.to.subresource == "status"})
		}
	case http.MethodDelete:
		if name := x.deleted(); name != "" {
			writes.end(x.to.kind, x.to.key(), x.sent.Seq, name)
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

// fail records a request without an answer. It may have been carried out for all
// that.
func (x *exchange) fail(err error) {
	step := x.after(Failed)
	step.Text = cut("no answer: "+err.Error(), wordsLimit)
	x.recorder.record(step)
	x.over(0, 0, "")
	x.did("no answer to " + x.sent.Request.Method + " " + x.subject())
}

// after returns a step that follows the one of the request.
func (x *exchange) after(what string) Step {
	step, request := x.sent, *x.sent.Request
	request.Body = ""
	step.What, step.Request, step.CauseSeq, step.Took = what, &request, x.sent.Seq, time.Since(x.began)
	return step
}

// answer records an answer that was read, or given up.
func (x *exchange) answer(code int, text []byte, read int64) {
	step := x.after(Answered)
	step.Request.Status, step.Request.Bytes = code, read
	object := decode(text)
	if x.to.kind != "" {
		step.Request.Reply = body(object)
	}
	refusal, refused := object.(*metav1.Status)
	refused = refused && code >= http.StatusBadRequest
	step.Text = http.StatusText(code)
	if refused && refusal.Message != "" {
		step.Text = cut(refusal.Message, wordsLimit)
	}
	accessor, err := meta.Accessor(object)
	if err == nil && object != nil {
		step.Version = accessor.GetResourceVersion()
	}
	seq := x.recorder.record(step)

	x.over(code, seq, step.Version)
	x.did(x.deed(code, object))
}

// over notes what the answer says of a write. A DELETE returns no version, and
// counted as a write from its beginning.
func (x *exchange) over(code int, seq int64, version string) {
	writes := &x.recorder.writes
	switch method := x.sent.Request.Method; {
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
		x.run.did(deed)
	}
}

// replyLimit is how much of an answer is kept to be read.
const replyLimit = 4 << 20

// reply calls done once, with what was read, when the body ends or is closed.
type reply struct {
	io.ReadCloser
	keep int
	kept bytes.Buffer
	read int64
	once sync.Once
	done func(body []byte, read int64)
}

func (r *reply) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.read += int64(n)
	if r.kept.Len()+n <= r.keep {
		r.kept.Write(p[:n])
	} else {
		// A part of an answer is no object.
		r.keep = 0
		r.kept.Reset()
	}
	if err != nil {
		r.finish()
	}
	return n, err
}

func (r *reply) Close() error {
	r.finish()
	return r.ReadCloser.Close()
}

func (r *reply) finish() { r.once.Do(func() { r.done(r.kept.Bytes(), r.read) }) }

// whyEnded says why a stream is over.
func whyEnded(err error) string {
	if errors.Is(err, io.EOF) {
		return "the API server ended it"
	}
	return cut(fmt.Sprintf("broken off: %v", err), wordsLimit)
}
