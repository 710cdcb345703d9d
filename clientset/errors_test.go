package clientset_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
)

// TestFailedCallReturnsEmptyObject proves what the package comment promises: a
// caller that ignores the error gets an empty object, not a nil pointer.
func TestFailedCallReturnsEmptyObject(t *testing.T) {
	eachKind(t, kind.testFailedCallReturnsEmptyObject)
}

func (r resource[T, L, A]) testFailedCallReturnsEmptyObject(t *testing.T) {
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusNotFound, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`)
	}))
	got, err := r.in(client, "shop").Get(t.Context(), "one", metav1.GetOptions{})
	if diff := cmp.Diff(new(T), got); diff != "" || err == nil {
		t.Errorf("object beside error %v (-want +got):\n%s", err, diff)
	}
}

// TestEmptyNameIsRefused proves that a forgotten name sends nothing: its URL would
// be that of the whole collection, and a DELETE there deletes everything.
func TestEmptyNameIsRefused(t *testing.T) { eachKind(t, kind.testEmptyNameIsRefused) }

func (r resource[T, L, A]) testEmptyNameIsRefused(t *testing.T) {
	client := r.in(newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	})), "shop")
	_, getErr := client.Get(t.Context(), "", metav1.GetOptions{})
	_, updateErr := client.Update(t.Context(), new(T), metav1.UpdateOptions{})
	_, patchErr := client.Patch(t.Context(), "", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	deleteErr := client.Delete(t.Context(), "", metav1.DeleteOptions{})
	for verb, err := range map[string]error{"Get": getErr, "Update": updateErr, "Patch": patchErr, "Delete": deleteErr} {
		if err == nil {
			t.Errorf("%s: no error", verb)
		}
	}
}

// TestQPSWithoutBurst proves that a rate limiter which would never let a request
// pass is refused at once, by an error that says what to set.
func TestQPSWithoutBurst(t *testing.T) {
	for _, test := range []struct {
		name   string
		config rest.Config
		want   string
	}{
		{"QPS alone", rest.Config{QPS: 5}, "Burst"},
		{"QPS and a negative Burst", rest.Config{QPS: 5, Burst: -1}, "Burst"},
		{"QPS and Burst", rest.Config{QPS: 5, Burst: 1}, ""},
		{"no limit", rest.Config{QPS: -1}, ""},
		{"client-go's defaults", rest.Config{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Host = "https://example.com"
			_, err := clientset.NewForConfigAndClient(&test.config, http.DefaultClient)
			if test.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want one that names %s", err, test.want)
			}
		})
	}
}

// TestNilObjects proves that a call without an object is an error that says so,
// and sends nothing.
func TestNilObjects(t *testing.T) { eachKind(t, kind.testNilObjects) }

func (r resource[T, L, A]) testNilObjects(t *testing.T) {
	c := r.in(newClient(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	})), "shop")
	ctx, errs := t.Context(), map[string]error{}
	_, errs["Create needs a "+r.kind] = c.Create(ctx, nil, metav1.CreateOptions{})
	_, errs["Update needs a "+r.kind] = c.Update(ctx, nil, metav1.UpdateOptions{})
	for _, nothing := range []*A{nil, new(A)} {
		_, errs["Apply needs a "+r.kind+" with a name"] = c.Apply(ctx, nothing, metav1.ApplyOptions{})
		if c, ok := c.(statusVerbs[T, A]); ok {
			_, errs["UpdateStatus needs a "+r.kind] = c.UpdateStatus(ctx, nil, metav1.UpdateOptions{})
			_, errs["of the status: Apply needs a "+r.kind+" with a name"] = c.ApplyStatus(ctx, nothing, metav1.ApplyOptions{})
		}
		for want, err := range errs {
			if err == nil || !strings.HasSuffix(want, err.Error()) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
	}
	if c, ok := c.(scaleVerbs); ok {
		if _, err := c.UpdateScale(ctx, "one", nil, metav1.UpdateOptions{}); err == nil || err.Error() != "UpdateScale needs a Scale" {
			t.Errorf("UpdateScale: error %v, want one that says what it needs", err)
		}
	}
}
