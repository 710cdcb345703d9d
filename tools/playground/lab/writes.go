package lab

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/testkit"
)

// Write is a write of a Foo or a Deployment that the server has answered.
type Write struct {
	At     float64 `json:"at"` // in milliseconds since 1970
	By     string  `json:"by"` // the visitor, a process of the controller, or another program
	Method string  `json:"method"`
	Kind   string  `json:"kind"`
	Name   string  `json:"name"`
	Status bool    `json:"status"` // of the status alone
	Code   int     `json:"code"`
	Spec   any     `json:"spec"` // as it is now, if it was answered; a DELETE has none
}

// Who writes, besides the processes of the controller.
const (
	visitor   = "you"
	collector = "the garbage collector"
	somebody  = "another client"
)

var kindOf = map[string]string{"foos": "Foo", "deployments": "Deployment"}

// noteWrite tells of a write. object is what was answered.
func (p *Playground) noteWrite(by, method, path string, code int, object map[string]any) {
	target := testkit.TargetOf(path)
	if kindOf[target.Resource] == "" || method == http.MethodGet {
		return
	}
	w := Write{At: float64(time.Now().UnixMicro()) / 1000, By: by, Method: method, Kind: kindOf[target.Resource], Name: target.Name, Status: target.Subresource == "status", Code: code}
	if w.Name == "" {
		w.Name, _, _ = unstructured.NestedString(object, "metadata", "name")
	}
	if method != http.MethodDelete {
		w.Spec = object["spec"]
	}
	p.tell("write", w)
}

// refuse answers a write in the server's place, and tells of it.
func (p *Playground) refuse(w http.ResponseWriter, r *http.Request, why *apierrors.StatusError) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.noteWrite(r.UserAgent(), r.Method, r.URL.Path, int(why.ErrStatus.Code), nil)
	testkit.WriteError(w, why)
}

// noteWrites is the server, which tells of the writes that reach it.
func (p *Playground) noteWrites(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			server.ServeHTTP(w, r)
			return
		}
		// No answer to a write may be told before it.
		p.writing.Lock()
		defer p.writing.Unlock()
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		object := &unstructured.Unstructured{}
		_ = object.UnmarshalJSON(answer.Body.Bytes()) // A refusal is a Status.
		p.noteWrite(r.UserAgent(), r.Method, r.URL.Path, answer.Code, object.Object)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// heldBack are the changes of Deployments that a held watch has not delivered.
func (p *Playground) heldBack() (n int) {
	for _, change := range p.api.History() {
		if change.Version > p.heldSince && strings.Contains(change.Path, "/deployments/") {
			n++
		}
	}
	return n
}
