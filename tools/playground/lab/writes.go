package lab

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/testkit"
)

// partServer is the part of a step for a write that the API server has answered. Text is the writer.
// Request is the write, with the object's spec as the reply.
const partServer trace.Part = "server"

// The other writers. A process of the controller writes under its name.
const (
	visitor   = "you"
	collector = "the garbage collector"
	somebody  = "another client"
)

var kindOf = map[string]string{"foos": "Foo", "deployments": "Deployment"}

// noteWrite records a write among the leader's steps, so that the page shows both in order. Without a
// leader it sends the write at once. object is the response.
func (p *Playground) noteWrite(by, method, path string, code int, object map[string]any) {
	target := testkit.TargetOf(path)
	kind := kindOf[target.Resource]
	if kind == "" || method == http.MethodGet {
		return
	}
	name := target.Name
	if name == "" {
		made, _, _ := unstructured.NestedString(object, "metadata", "name")
		refused, _, _ := unstructured.NestedString(object, "details", "name")
		name = cmp.Or(made, refused)
	}
	write := &trace.Step{Time: time.Now(), Part: partServer, What: "written", Kind: kind, Key: metav1.NamespaceDefault + "/" + name, Text: by,
		Request: &trace.Request{Method: method, Path: path, Status: code}}
	if spec, err := json.Marshal(object["spec"]); err == nil && method != http.MethodDelete {
		write.Request.Reply = string(spec)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != nil {
		p.shown.observe.Record(write, nil)
	} else {
		p.tell("write", write)
	}
}

func (p *Playground) refuse(w http.ResponseWriter, r *http.Request, why *apierrors.StatusError) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.noteWrite(r.UserAgent(), r.Method, r.URL.Path, int(why.ErrStatus.Code), nil)
	testkit.WriteError(w, why)
}

// noteWrites returns the server, which also records the writes that reach it.
func (p *Playground) noteWrites(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			server.ServeHTTP(w, r)
			return
		}
		// A write must be recorded before its response.
		p.writing.Lock()
		defer p.writing.Unlock()
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		object := &unstructured.Unstructured{}
		_ = object.UnmarshalJSON(answer.Body.Bytes()) // A rejection is a Status.
		p.noteWrite(r.UserAgent(), r.Method, r.URL.Path, answer.Code, object.Object)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// heldBack counts the changes of Deployments that the held watches have not delivered.
func (p *Playground) heldBack() (n int) {
	for _, change := range p.api.History() {
		if change.Version > p.heldSince && strings.Contains(change.Path, "/deployments/") {
			n++
		}
	}
	return n
}
