package clientset_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	fooac "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
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
		{404, metav1.StatusReasonNotFound, "IsNotFound", "a reconcile takes it for: deleted, nothing to do"},
		{409, metav1.StatusReasonAlreadyExists, "IsAlreadyExists", "two meanings share the code 409; the reason tells them apart"},
		{409, metav1.StatusReasonConflict, "IsConflict", "two meanings share the code 409; the reason tells them apart"},
		{422, metav1.StatusReasonInvalid, "IsInvalid", "trying again is useless until somebody changes the object"},
		{403, metav1.StatusReasonForbidden, "IsForbidden", "RBAC, an admission policy or a quota says no"},
		{410, metav1.StatusReasonExpired, "IsResourceExpired", "a reflector answers it with a new list"},
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
			for verb, err := range everyVerb(t.Context(), projects, client) {
				check("projects: "+verb, err)
			}
			for verb, err := range everyVerb(t.Context(), foos, client) {
				check("foos: "+verb, err)
			}
		})
	}
}

// everyVerb calls every verb once and returns the error of each.
func everyVerb[T, L any](ctx context.Context, r resource[T, L], client clientset.Interface) map[string]error {
	c, errs := r.in(client, "shop"), map[string]error{}
	_, errs["Create"] = c.Create(ctx, r.object, metav1.CreateOptions{})
	_, errs["Update"] = c.Update(ctx, r.object, metav1.UpdateOptions{})
	errs["Delete"] = c.Delete(ctx, "one", metav1.DeleteOptions{})
	errs["DeleteCollection"] = c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	_, errs["Get"] = c.Get(ctx, "one", metav1.GetOptions{})
	_, errs["List"] = c.List(ctx, metav1.ListOptions{})
	_, errs["Watch"] = c.Watch(ctx, metav1.ListOptions{})
	_, errs["Patch"] = c.Patch(ctx, "one", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	if f, ok := c.(clientset.FooInterface); ok {
		_, errs["UpdateStatus"] = f.UpdateStatus(ctx, foos.object, metav1.UpdateOptions{})
	}
	return errs
}

// TestFailedCallReturnsEmptyObject proves what the package comment promises: a
// caller that ignores the error gets an empty object, not a nil pointer.
func TestFailedCallReturnsEmptyObject(t *testing.T) {
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusNotFound, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`)
	}))
	gotFoo, err := client.SamplecontrollerV1alpha1().Foos("shop").Get(t.Context(), "one", metav1.GetOptions{})
	if diff := cmp.Diff(&foo{}, gotFoo); diff != "" || err == nil {
		t.Errorf("Foo beside error %v (-want +got):\n%s", err, diff)
	}
	gotProject, err := client.ExamplesV1alpha1().Projects("shop").Get(t.Context(), "one", metav1.GetOptions{})
	if diff := cmp.Diff(&project{}, gotProject); diff != "" || err == nil {
		t.Errorf("Project beside error %v (-want +got):\n%s", err, diff)
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
		{"a kind that nobody registered", "application/json", `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "Pebble"}`, http.StatusOK},
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
// sent, and ends a request that the server has not answered yet.
func TestCancelledContext(t *testing.T) {
	arrived := make(chan struct{}, 100)
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-time.After(deadline):
		}
	}))
	check := func(t *testing.T, verb string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", verb, err, context.Canceled)
		}
	}

	t.Run("before the request", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for verb, err := range everyVerb(ctx, projects, client) {
			check(t, "projects: "+verb, err)
		}
		for verb, err := range everyVerb(ctx, foos, client) {
			check(t, "foos: "+verb, err)
		}
		if len(arrived) > 0 {
			t.Errorf("%d requests were sent all the same", len(arrived))
		}
	})
	t.Run("during the request", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		go func() {
			<-arrived
			cancel()
		}()
		_, err := client.SamplecontrollerV1alpha1().Foos("shop").Get(ctx, "one", metav1.GetOptions{})
		check(t, "Get", err)
	})
}

// TestEmptyNameIsRefused proves that a forgotten name sends nothing: its URL would
// be that of the whole collection, and a DELETE there deletes everything.
func TestEmptyNameIsRefused(t *testing.T) {
	config := serve(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	})
	t.Run("projects", func(t *testing.T) { testEmptyNameIsRefused(t, projects.in(newClient(t, config), "shop")) })
	t.Run("foos", func(t *testing.T) { testEmptyNameIsRefused(t, foos.in(newClient(t, config), "shop")) })
}

func testEmptyNameIsRefused[T, L any](t *testing.T, client verbs[T, L]) {
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
func TestNilObjects(t *testing.T) {
	client := newClient(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
	}))
	ctx, create, update, apply := t.Context(), metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.ApplyOptions{}
	p, f := client.ExamplesV1alpha1().Projects("shop"), client.SamplecontrollerV1alpha1().Foos("shop")
	for want, call := range map[string]func() (any, error){
		"Create needs a Project":              func() (any, error) { return p.Create(ctx, nil, create) },
		"Update needs a Project":              func() (any, error) { return p.Update(ctx, nil, update) },
		"Apply needs a Project with a name":   func() (any, error) { return p.Apply(ctx, nil, apply) },
		"Create needs a Foo":                  func() (any, error) { return f.Create(ctx, nil, create) },
		"Update needs a Foo":                  func() (any, error) { return f.Update(ctx, nil, update) },
		"UpdateStatus needs a Foo":            func() (any, error) { return f.UpdateStatus(ctx, nil, update) },
		"UpdateScale needs a Scale":           func() (any, error) { return f.UpdateScale(ctx, "one", nil, update) },
		"Apply needs a Foo with a name":       func() (any, error) { return f.Apply(ctx, &fooac.FooApplyConfiguration{}, apply) },
		"ApplyStatus needs a Foo with a name": func() (any, error) { return f.ApplyStatus(ctx, nil, apply) },
	} {
		if _, err := call(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
