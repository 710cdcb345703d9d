package simulation

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/kit/testkit"
)

// exchange is one request of a reconcile, and the response.
type exchange struct {
	*worker
	method, path  string // without /status
	status        bool   // the request is for the status subresource
	target        testkit.Target
	body          *unstructured.Unstructured // may be empty
	preconditions metav1.Preconditions
	at            time.Time
	before, after *unstructured.Unstructured // the stored object; may be nil
	code          int
	received      bool // the reconcile has the response
}

// read returns the request.
func (w *worker) read(r *http.Request) *exchange {
	x := &exchange{worker: w, method: r.Method, body: &unstructured.Unstructured{Object: map[string]any{}}}
	x.path, x.status = strings.CutSuffix(r.URL.Path, "/status")
	if r.Body != nil {
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		var options metav1.DeleteOptions
		if r.Method != http.MethodDelete {
			_ = json.Unmarshal(sent, &x.body.Object)
		} else if _ = json.Unmarshal(sent, &options); options.Preconditions != nil {
			x.preconditions = *options.Preconditions
		}
	}
	if r.Method == http.MethodPost {
		x.path += "/" + x.body.GetName()
	}
	x.target = testkit.TargetOf(x.path)
	return x
}

func (x *exchange) operation() string {
	if x.status {
		return x.method + " " + x.target.Resource + "/status"
	}
	return x.method + " " + x.target.Resource
}

// send gets the response from the API server, or from a fault, and checks the rules.
func (w *worker) send(r *http.Request, x *exchange) (response *http.Response, lost bool) {
	x.at = time.Now()
	w.checkRate(x)
	if refusal := w.refusal(x); refusal != nil {
		w.note(w.name, "%s: %s %s → %s", w.key, x.operation(), x.target.Name, refusal.ErrStatus.Message)
		answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { testkit.WriteError(w, refusal) })
		response, _ = testkit.Transport{Handler: answer}.RoundTrip(r)
		return response, false
	}
	w.admit(r, x)
	x.before = w.api.Get(x.path)
	response, _ = testkit.Transport{Handler: w.api}.RoundTrip(r)
	x.after, x.code = w.api.Get(x.path), response.StatusCode
	w.note(w.name, "%s: %s %s → %d, v%d", w.key, x.operation(), x.target.Name, x.code, w.api.Version())
	w.check(x)
	return response, w.faults && !w.resting && w.chance(10)
}

// receive records that the reconcile has the response.
func (w *worker) receive(x *exchange) {
	x.received = true
	if x.method == http.MethodGet && x.target.Resource == "deployments" && x.after != nil && x.target.Name == w.seen.foo.Spec.DeploymentName {
		w.seen.confirmed = x.after
	}
}

func decode[T any](s *sequence, object *unstructured.Unstructured) *T {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		s.breaks("decode: %v", err)
	}
	return typed
}

func version(object metav1.Object) int {
	n, _ := strconv.Atoi(object.GetResourceVersion())
	return n
}

// text returns a value as JSON.
func text(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}
