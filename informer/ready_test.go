package informer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/informer"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/quiet"
	"example.com/byhand/kit/testkit"
)

func forbidden(r *http.Request) *apierrors.StatusError {
	return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("no permission to %s", verb(r)))
}

func TestWaitForSyncNamesError(t *testing.T) {
	for _, test := range []struct {
		reason string
		refuse func(r *http.Request) *apierrors.StatusError
		want   string
	}{
		{"every request is rejected", forbidden, "no permission to list"},
		{"the watch is rejected, and the list gets no response", func(r *http.Request) *apierrors.StatusError {
			if verb(r) == "list" {
				<-r.Context().Done()
			}
			return forbidden(r)
		}, "no permission to streaming list"},
		{"no request gets a response", func(r *http.Request) *apierrors.StatusError {
			<-r.Context().Done()
			return forbidden(r)
		}, "has not answered yet"},
	} {
		for _, c := range constructors() {
			t.Run(c.kind+", "+test.reason, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := tests.NewAPIServer()
					s.Refuse(test.refuse)
					i := running(quiet.Context(t), t, s, c.new)
					err := waitForSync(t, i, time.Minute)
					group, _, _ := strings.Cut(c.apiVersion, "/")
					if want := c.plural + "." + group + ": the first list is not complete: "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), test.want) {
						t.Errorf("error %v, want one with %q that has %q", err, want, test.want)
					}
				})
			})
		}
	}
}

// waitForSync returns the error of WaitForSync with a timeout of a minute. It fails the test unless
// WaitForSync takes least to least+5 s.
func waitForSync(t *testing.T, i *informer.Informer, least time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(quiet.Context(t), time.Hour)
	defer cancel()
	begin := time.Now()
	err := informer.WaitForSync(ctx, time.Minute, i)
	if took := time.Since(begin); took < least || took > least+5*time.Second {
		t.Errorf("WaitForSync returns after %s, want %s: %v", took, least, err)
	}
	return err
}

func TestWaitForSync(t *testing.T) {
	for _, test := range []struct {
		reason string
		// answer sends events of a streaming list, which then breaks. After it returns true, the
		// next list succeeds.
		answer func(r *http.Request, send func(event string, object any)) (complete bool)
		least  time.Duration
		want   []string // parts of the error; nil: no error
	}{
		{"a list without an end", func(r *http.Request, send func(string, any)) bool {
			time.Sleep(50 * time.Second)
			send("ADDED", pod("one", "7"))
			for r.Context().Err() == nil {
				time.Sleep(20 * time.Second)
				send("BOOKMARK", pod("", "8")) // a periodic bookmark, not the end of the list
			}
			return false
		}, time.Minute, []string{"bookmark", "KUBE_FEATURE_WatchListClient=false"}},
		{"streams that break", func(_ *http.Request, send func(string, any)) bool {
			send("ADDED", pod("one", "7"))
			return false
		}, time.Minute, []string{"broken"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := tests.NewAPIServer()
				done := false
				s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
					switch {
					case done:
						return false
					case verb(r) == "list":
						testkit.WriteError(w, apierrors.NewInternalError(errors.New("broken")))
						return true
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusOK)
					w.(http.Flusher).Flush()
					send := func(event string, object any) {
						_ = json.NewEncoder(w).Encode(map[string]any{"type": event, "object": object})
						w.(http.Flusher).Flush()
					}
					done = test.answer(r, send)
					send("ERROR", apierrors.NewTimeoutError("broken", 0).Status())
					return true
				})
				i := running(quiet.Context(t), t, s, newPods)
				err := waitForSync(t, i, test.least)
				if (err != nil) != (test.want != nil) {
					t.Errorf("error %v, want one with %q", err, test.want)
				}
				for _, want := range test.want {
					if err != nil && !strings.Contains(err.Error(), want) {
						t.Errorf("error %v, want one with %q", err, want)
					}
				}
			})
		})
	}
}

// A first list may take longer than the minute after which an informer without a watch is not ready.
func TestLateFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		s.Refuse(func(*http.Request) *apierrors.StatusError { return apierrors.NewInternalError(errors.New("not yet")) })
		time.AfterFunc(75*time.Second, func() { s.Refuse(nil) })
		i := running(quiet.Context(t), t, s, newPods)
		if err := informer.WaitForSync(t.Context(), 5*time.Minute, i); err != nil {
			t.Error(err)
		}
	})
}

// After a minute without an open watch, an informer is unready until it has one. Without permission it is unready at once.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		i := running(quiet.Context(t), t, s, newPods)
		if err := informer.WaitForSync(t.Context(), time.Minute, i); err != nil {
			t.Fatal(err)
		}
		always := func(err *apierrors.StatusError) func(*http.Request) *apierrors.StatusError {
			return func(*http.Request) *apierrors.StatusError { return err }
		}
		created := 0
		for _, test := range []struct {
			reason string
			refuse func(r *http.Request) *apierrors.StatusError
			want   string
		}{
			{"the permission to watch is lost", func(r *http.Request) *apierrors.StatusError {
				if verb(r) != "list" {
					return forbidden(r)
				}
				return nil
			}, "config/rbac"},
			{"all permissions are lost", forbidden, "config/rbac"},
			{"the account is unknown", always(apierrors.NewUnauthorized("who?")), "config/rbac"},
			{"the server is out of order", always(apierrors.NewInternalError(errors.New("out of order"))), "out of order"},
			{"the kind is gone", always(apierrors.NewNotFound(schema.GroupResource{}, "pods")), "not found"},
			{"the server asks for an hour's patience", always(apierrors.NewTooManyRequests("", 3600)), "has not answered yet"},
			{"an object cannot be decoded", nil, "cannot unmarshal"},
		} {
			s.Refuse(test.refuse)
			if test.refuse == nil {
				s.Add(podPath+"broken", &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"priority": int64(3e9)}}})
			}
			s.EndWatches("pods") // only a new request is rejected
			for range 45 {
				time.Sleep(time.Second)
				created++ // Each list is longer than the previous one.
				s.Add(fmt.Sprint(podPath, "a", created), &unstructured.Unstructured{Object: map[string]any{}})
			}
			if atOnce := test.want == "config/rbac"; (i.Ready() != nil) != atOnce {
				t.Errorf("%s: after 45 s error %v, want one: %t", test.reason, i.Ready(), atOnce)
			}
			time.Sleep(30 * time.Second)
			if err := i.Ready(); err == nil || !strings.HasPrefix(err.Error(), "pods: no open watch for ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %q", test.reason, err, test.want)
			}
			s.Refuse(nil)
			if test.refuse == nil {
				s.Remove(podPath + "broken")
			}
			time.Sleep(2 * time.Hour) // longer than any wait: a watch without events is still ready
			if err := i.Ready(); err != nil {
				t.Errorf("after the end of %q: error %v, want none", test.reason, err)
			}
		}
	})
}

// Lists succeed, and a proxy ends each watch at once: the informer is not ready.
func TestReadyWithoutWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.NewAPIServer()
		i := running(quiet.Context(t), t, s, newPods)
		if err := informer.WaitForSync(t.Context(), time.Minute, i); err != nil {
			t.Fatal(err)
		}
		s.Intercept(func(w http.ResponseWriter, r *http.Request) (ends bool) {
			if ends = verb(r) != "list"; ends {
				w.WriteHeader(http.StatusOK)
			}
			return ends
		})
		s.EndWatches("pods")
		time.Sleep(2 * time.Minute)
		for range 60 {
			time.Sleep(10 * time.Second)
			if i.Ready() == nil {
				t.Fatal("the informer is ready without an open watch")
			}
		}
	})
}

// Run returns while the Reflector sleeps after a rejected request. The Reflector sends no more requests.
func TestRunEnds(t *testing.T) {
	for reason, refuse := range map[string]func(r *http.Request) *apierrors.StatusError{
		"a list gets no response": func(r *http.Request) *apierrors.StatusError {
			<-r.Context().Done()
			return nil
		},
		"the server has too much to do": func(*http.Request) *apierrors.StatusError { return apierrors.NewTooManyRequests("", 0) },
	} {
		t.Run(reason, func(t *testing.T) {
			// Repeat the test: the Reflector may or may not sleep when the context ends.
			for range 10 {
				synctest.Test(t, func(t *testing.T) {
					s := tests.NewAPIServer()
					s.Refuse(refuse)
					pods := newPods(options{kube: kubernetes.NewForConfigOrDie(s.Config()), handler: cache.ResourceEventHandlerFuncs{}})
					ctx, cancel := context.WithTimeout(quiet.Context(t), 5*time.Minute)
					defer cancel()
					pods.Run(ctx)
					end, _ := ctx.Deadline()
					if took := time.Since(end); took > time.Second {
						t.Errorf("Run returns %s after its context is done", took)
					}
					s.Forget()
					time.Sleep(time.Hour)
					if after := s.Log(); len(after) > 0 {
						t.Errorf("requests after the end: %v", after)
					}
				})
			}
		})
	}
}
