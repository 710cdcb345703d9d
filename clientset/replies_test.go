package clientset_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// sent is what a server keeps of a request, to compare it with another one.
type sent struct{ method, uri, contentType, body string }

func record(t *testing.T, r *http.Request) sent {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("read the body: %v", err)
	}
	return sent{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), string(body)}
}

const (
	overloaded = `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "TooManyRequests", "code": 429}`
	broken     = `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "InternalError", "code": 500}`
	away       = `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "ServiceUnavailable", "code": 503}`
)

// TestRetryAfter proves that client-go sends a request again, body and all, when an
// overloaded server says with Retry-After how long to wait. The caller of a verb
// sees nothing of it.
func TestRetryAfter(t *testing.T) { eachKind(t, kind.testRetryAfter) }

func (r resource[T, L, A]) testRetryAfter(t *testing.T) {
	var first, second []sent
	client := newClient(t, serve(t, func(w http.ResponseWriter, got *http.Request) {
		if len(first) == len(second) {
			first = append(first, record(t, got))
			w.Header().Set("Retry-After", "0")
			reply(w, http.StatusTooManyRequests, overloaded)
			return
		}
		second = append(second, record(t, got))
		if got.URL.Query().Get("watch") == "true" {
			reply(w, http.StatusOK, "") // a stream without events
			return
		}
		reply(w, http.StatusOK, r.objectWire())
	}))
	errs := r.everyVerb(t.Context(), client)
	for verb, err := range errs {
		if err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if len(first) != len(errs) {
		t.Errorf("%d requests were refused, want %d", len(first), len(errs))
	}
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("requests (-first +second attempt):\n%s", diff)
	}
}

// TestRetryAfterWaits proves that the seconds in Retry-After are kept to, and that
// the end of the context ends the wait.
func TestRetryAfterWaits(t *testing.T) {
	for _, test := range []struct {
		name       string
		retryAfter string
		timeout    time.Duration
		requests   int
		want       error
	}{
		{"as long as the server says", "1", deadline, 2, nil},
		{"but no longer than the context", "3600", 100 * time.Millisecond, 1, context.DeadlineExceeded},
	} {
		t.Run(test.name, func(t *testing.T) {
			var at []time.Time
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if at = append(at, time.Now()); len(at) == 1 {
					w.Header().Set("Retry-After", test.retryAfter)
					reply(w, http.StatusTooManyRequests, overloaded)
					return
				}
				reply(w, http.StatusOK, foos.objectWire())
			})).SamplecontrollerV1alpha1().Foos("shop")
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			defer cancel()
			if _, err := client.Get(ctx, "one", metav1.GetOptions{}); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if len(at) != test.requests {
				t.Fatalf("%d requests, want %d", len(at), test.requests)
			}
			if len(at) == 2 && at[1].Sub(at[0]) < time.Second {
				t.Errorf("the second request came after %v, want 1s at least", at[1].Sub(at[0]))
			}
		})
	}
}

// TestServerErrors proves which failure of a server is told how, and after how many
// requests: Retry-After decides whether client-go tries again, not the code.
func TestServerErrors(t *testing.T) {
	for _, test := range []struct {
		name       string
		code       int
		retryAfter string
		body       string
		is         func(error) bool
		requests   int
		reason     string
	}{
		{"500", 500, "", broken, apierrors.IsInternalError, 1, "the server's own words arrive"},
		{"503", 503, "", away, apierrors.IsServiceUnavailable, 1, "the server's own words arrive"},
		{"500 without a Status", 500, "", "oops", apierrors.IsInternalError, 1, "client-go makes the Status from the code"},
		{"503 without a Status", 503, "", "oops", apierrors.IsServiceUnavailable, 1, "a load balancer knows no Status"},
		{"504 without a Status", 504, "", "oops", apierrors.IsTimeout, 1, "a load balancer knows no Status"},
		{"always 503 with Retry-After", 503, "0", away, apierrors.IsServiceUnavailable, 11, "after ten retries the caller gets the refusal"},
		{"always 429 with Retry-After", 429, "0", overloaded, apierrors.IsTooManyRequests, 11, "after ten retries the caller gets the refusal"},
		{"409 with Retry-After", 409, "0", `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409}`,
			apierrors.IsConflict, 1, "the same request would be refused again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var requests int
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if test.retryAfter != "" {
					w.Header().Set("Retry-After", test.retryAfter)
				}
				if test.body == "oops" {
					http.Error(w, test.body, test.code)
					return
				}
				reply(w, test.code, test.body)
			}))
			_, projectErr := client.ExamplesV1alpha1().Projects("shop").Create(t.Context(), projects.object, metav1.CreateOptions{})
			_, fooErr := client.SamplecontrollerV1alpha1().Foos("shop").List(t.Context(), metav1.ListOptions{})
			for call, err := range map[string]error{"Create a Project": projectErr, "List Foos": fooErr} {
				if !test.is(err) {
					t.Errorf("%s: error %v (%v) is not what it should be: %s", call, err, apierrors.ReasonForError(err), test.reason)
				}
			}
			if requests != 2*test.requests {
				t.Errorf("%d requests for two calls, want %d: %s", requests, 2*test.requests, test.reason)
			}
		})
	}
}

// TestReplyCutOff proves that half a reply is an error, even where the half that
// arrived is an object by itself.
func TestReplyCutOff(t *testing.T) { eachKind(t, kind.testReplyCutOff) }

func (r resource[T, L, A]) testReplyCutOff(t *testing.T) {
	for name, part := range map[string]string{
		"within the object": r.objectWire()[:len(r.objectWire())/2],
		"behind the object": r.objectWire(),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("watch") == "true" {
					// Not here: a stream may break off anywhere (TestWatchStreamBreaks).
					reply(w, http.StatusInternalServerError, broken)
					return
				}
				// More is announced than follows: the server closes the connection.
				w.Header().Set("Content-Length", "100000")
				reply(w, http.StatusOK, part)
			}))
			// A logger that is silent: client-go logs this error, too.
			ctx := klog.NewContext(t.Context(), klog.Logger{})
			for verb, err := range r.everyVerb(ctx, client) {
				if verb == "Watch" {
					continue
				}
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s: error %v, want %v", verb, err, io.ErrUnexpectedEOF)
				}
			}
		})
	}
}

// TestHangUp proves that a request to which the server closes the connection is
// sent again if it only reads, and is not if it writes: the server may have done it.
func TestHangUp(t *testing.T) {
	var methods []string
	client := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		if !slices.Equal(methods, []string{"POST", "GET", "GET"}) {
			panic(http.ErrAbortHandler)
		}
		reply(w, http.StatusOK, foos.objectWire())
	})).SamplecontrollerV1alpha1().Foos("shop")

	if _, err := client.Create(t.Context(), foos.object, metav1.CreateOptions{}); !errors.Is(err, io.EOF) {
		t.Errorf("Create: error %v, want %v", err, io.EOF)
	}
	if _, err := client.Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Errorf("Get: %v", err)
	}
	if diff := cmp.Diff([]string{"POST", "GET", "GET"}, methods); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestReplyOfAnotherKind states what client-go makes of a reply that is not of the
// kind that was asked for. A kind of the scheme is dropped without an error, and the
// caller holds an empty object: who must be sure looks for a name, a
// resourceVersion.
func TestReplyOfAnotherKind(t *testing.T) {
	eachKind(t, kind.testReplyOfAnotherKind)
}

func (r resource[T, L, A]) testReplyOfAnotherKind(t *testing.T) {
	other := kinds[(slices.IndexFunc(kinds, func(k kind) bool { return k.name() == r.plural })+1)%len(kinds)].objectWire()
	object, list := new(T), new(L)
	any(object).(metav1.Object).SetName("one")
	any(object).(metav1.Object).SetResourceVersion("9")
	any(list).(metav1.ListInterface).SetResourceVersion("9")
	noError := func(err error) bool { return err == nil }
	for _, test := range []struct {
		name, body string
		object     *T
		objectErr  func(error) bool
		list       *L
		listErr    func(error) bool
	}{
		{"an object", r.objectWire(), r.object, noError, new(L), noError},
		{"a list", r.listWire(), new(T), noError, r.list, noError},
		{"another group's object", other, new(T), noError, new(L), noError},
		{"a Status that says Success", `{"apiVersion": "v1", "kind": "Status", "status": "Success"}`, new(T), noError, new(L), noError},
		{"a Status that says Failure", `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`,
			new(T), apierrors.IsNotFound, new(L), apierrors.IsNotFound},
		{"no kind", `{"metadata": {"name": "one", "resourceVersion": "9"}}`, object, noError, list, noError},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := r.in(newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				reply(w, http.StatusOK, test.body)
			})), "shop")
			object, err := client.Get(t.Context(), "one", metav1.GetOptions{})
			if diff := cmp.Diff(test.object, object); diff != "" || !test.objectErr(err) {
				t.Errorf("Get: error %v, object (-want +got):\n%s", err, diff)
			}
			list, err := client.List(t.Context(), metav1.ListOptions{})
			if diff := cmp.Diff(test.list, list); diff != "" || !test.listErr(err) {
				t.Errorf("List: error %v, list (-want +got):\n%s", err, diff)
			}
		})
	}
}

// warnings collects what the server says beside its replies.
type warnings struct {
	texts    []string
	contexts []any
}

type contextKey struct{}

func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	w.texts = append(w.texts, text)
	w.contexts = append(w.contexts, ctx.Value(contextKey{}))
}

// TestWarnings proves that the Warning headers of every verb's reply (a deprecated
// version, an unknown field) reach the handler in rest.Config, with the context of
// the call, whether the call succeeds or not.
func TestWarnings(t *testing.T) { eachKind(t, kind.testWarnings) }

func (r resource[T, L, A]) testWarnings(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusConflict} {
		var got warnings
		config := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Warning", `299 - "unknown field \"spec.replica\""`)
			w.Header().Add("Warning", `299 - "v1alpha1 is deprecated"`)
			reply(w, code, "")
		})
		config.WarningHandlerWithContext = &got
		errs := r.everyVerb(context.WithValue(t.Context(), contextKey{}, "mine"), newClient(t, config))

		var want warnings
		for range errs {
			want.texts = append(want.texts, `unknown field "spec.replica"`, "v1alpha1 is deprecated")
			want.contexts = append(want.contexts, "mine", "mine")
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(warnings{})); diff != "" {
			t.Errorf("warnings beside code %d (-want +got):\n%s", code, diff)
		}
	}
}

// TestSilentServer proves which limits end a call to a server that accepts
// connections and answers nothing: a deadline in the context ends every verb, a
// TimeoutSeconds in the options those that bound themselves.
func TestSilentServer(t *testing.T) { eachKind(t, kind.testSilentServer) }

func (r resource[T, L, A]) testSilentServer(t *testing.T) {
	t.Parallel()
	client := r.in(newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		// Without reading the body the server does not notice that the client left.
		io.Copy(io.Discard, r.Body)
		holdOn(r)
	})), "shop")
	check := func(t *testing.T, verb string, err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want %v", verb, err, context.DeadlineExceeded)
		}
	}
	for verb, call := range map[string]func(ctx context.Context) error{
		"Create": func(ctx context.Context) error {
			_, err := client.Create(ctx, r.object, metav1.CreateOptions{})
			return err
		},
		"Get": func(ctx context.Context) error {
			_, err := client.Get(ctx, "one", metav1.GetOptions{})
			return err
		},
		"Watch": func(ctx context.Context) error {
			_, err := client.Watch(ctx, metav1.ListOptions{})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		check(t, verb, call(ctx))
		cancel()
	}

	// One second is the least that TimeoutSeconds can say, so all wait together.
	options := metav1.ListOptions{TimeoutSeconds: new(int64(1))}
	t.Run("List with TimeoutSeconds", func(t *testing.T) {
		t.Parallel()
		_, err := client.List(t.Context(), options)
		check(t, "List", err)
	})
	t.Run("DeleteCollection with TimeoutSeconds", func(t *testing.T) {
		t.Parallel()
		check(t, "DeleteCollection", client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, options))
	})
}
