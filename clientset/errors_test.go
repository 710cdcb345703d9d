package clientset_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
)

// TestRefusalsBecomeTypedErrors proves that the Status in the body of a refusal
// arrives whole through every verb, and that exactly one of apierrors' questions is
// answered with yes.
func TestRefusalsBecomeTypedErrors(t *testing.T) {
	questions := map[string]func(error) bool{
		"IsNotFound":        apierrors.IsNotFound,
		"IsAlreadyExists":   apierrors.IsAlreadyExists,
		"IsConflict":        apierrors.IsConflict,
		"IsInvalid":         apierrors.IsInvalid,
		"IsForbidden":       apierrors.IsForbidden,
		"IsResourceExpired": apierrors.IsResourceExpired,
		"IsTooManyRequests": apierrors.IsTooManyRequests,
	}
	for _, test := range []struct {
		code   int32
		status metav1.StatusReason
		want   string
		reason string
	}{
		{404, metav1.StatusReasonNotFound, "IsNotFound", "the object is gone; a reconcile that meets it in a write is retried and then finds that"},
		{409, metav1.StatusReasonAlreadyExists, "IsAlreadyExists", "two meanings share the code 409; the reason tells them apart"},
		{409, metav1.StatusReasonConflict, "IsConflict", "two meanings share the code 409; the reason tells them apart"},
		{422, metav1.StatusReasonInvalid, "IsInvalid", "the schema, a webhook or a policy says no"},
		{403, metav1.StatusReasonForbidden, "IsForbidden", "RBAC, an admission policy or a quota says no"},
		{410, metav1.StatusReasonExpired, "IsResourceExpired", "a Reflector answers it with a relist"},
		{429, metav1.StatusReasonTooManyRequests, "IsTooManyRequests", "with a Retry-After header client-go would wait and try again by itself"},
	} {
		t.Run(string(test.status), func(t *testing.T) {
			sent := metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status:   metav1.StatusFailure,
				Code:     test.code,
				Reason:   test.status,
				Message:  "no",
				Details:  &metav1.StatusDetails{Kind: "foos", Name: "one"},
			}
			body, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				reply(w, int(test.code), string(body))
			}))
			check := func(verb string, err error) {
				for question, ask := range questions {
					if got, want := ask(err), question == test.want; got != want {
						t.Errorf("%s: %s(%v) = %v, want %v (%s)", verb, question, err, got, want, test.reason)
					}
				}
				var refused apierrors.APIStatus
				if !errors.As(err, &refused) {
					t.Errorf("%s: %T is no APIStatus", verb, err)
					return
				}
				// A decoded object has its Go type and no apiVersion and kind.
				got := refused.Status()
				got.TypeMeta = sent.TypeMeta
				if diff := cmp.Diff(sent, got); diff != "" {
					t.Errorf("%s: Status (-sent +got):\n%s", verb, diff)
				}
			}
			for _, k := range kinds {
				for verb, err := range k.everyVerb(t.Context(), client) {
					check(k.name()+": "+verb, err)
				}
			}
		})
	}
}

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

// TestUnreadableReply proves that what a proxy or a wrong address answers is an
// error, and not an empty object.
func TestUnreadableReply(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		code                    int
	}{
		{"a login page", "text/html", "<html>Who are you?</html>", http.StatusOK},
		{"a proxy's error page", "text/html", "<html>Bad gateway</html>", http.StatusBadGateway},
		{"text that claims to be JSON", "application/json", "hello", http.StatusOK},
		{"JSON that breaks off", "application/json", `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Pro`, http.StatusOK},
		{"a kind that is not registered", "application/json", `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Pebble"}`, http.StatusOK},
		{"nothing", "application/json", "", http.StatusOK},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.WriteHeader(test.code)
				w.Write([]byte(test.body))
			})).ExamplesV1alpha1().Projects("shop")
			if got, err := client.Get(t.Context(), "one", metav1.GetOptions{}); err == nil {
				t.Errorf("Get: no error, but %v", got)
			}
			if got, err := client.List(t.Context(), metav1.ListOptions{}); err == nil {
				t.Errorf("List: no error, but %v", got)
			}
		})
	}
}

// TestCancelledContext proves that a cancelled context keeps every verb from being
// sent. TestNoGoroutineIsLeft cancels later.
func TestCancelledContext(t *testing.T) {
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range kinds {
		for verb, err := range k.everyVerb(ctx, client) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %s: error %v, want %v", k.name(), verb, err, context.Canceled)
			}
		}
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
