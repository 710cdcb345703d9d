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

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/clientset"
	"example.com/byhand/informer"
	"example.com/byhand/internal/testkit"
	"example.com/byhand/internal/testkit/quiet"
)

// inBubble runs a test in its own time.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	// One of them sleeps by a clock from outside the bubble.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	defer func() { utilruntime.ErrorHandlers = handlers }()
	synctest.Test(t, test)
}

// running runs an informer against an API server in memory, until the test ends.
func running(t *testing.T, s *testkit.APIServer, newInformer func(options) *informer.Informer) *informer.Informer {
	t.Helper()
	i := newInformer(options{client: clientset.NewForConfigOrDie(s.Config()), kube: kubernetes.NewForConfigOrDie(s.Config()), handler: cache.ResourceEventHandlerFuncs{}})
	ctx, cancel := context.WithCancel(quiet.Context(t))
	t.Cleanup(func() {
		cancel()
		time.Sleep(2 * time.Minute) // until the Reflector wakes, which may sleep
	})
	go i.Run(ctx)
	return i
}

func forbidden(r *http.Request) *apierrors.StatusError {
	return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("no right to %s", verb(r)))
}

// WaitForSync names the resource that is not synced, and the error of its last request.
func TestWaitForSyncNamesError(t *testing.T) {
	for _, test := range []struct {
		reason string
		refuse func(r *http.Request) *apierrors.StatusError
		want   string
	}{
		{"all is refused", forbidden, "no right to list"},
		{"the watch is refused, and the list is not answered", func(r *http.Request) *apierrors.StatusError {
			if verb(r) == "list" {
				<-r.Context().Done()
			}
			return forbidden(r)
		}, "no right to streaming list"},
		{"nothing is answered", func(r *http.Request) *apierrors.StatusError {
			<-r.Context().Done()
			return forbidden(r)
		}, "the first list is not complete"},
	} {
		for _, c := range constructors {
			t.Run(c.kind+", "+test.reason, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					s := testkit.NewAPIServer()
					s.Refuse(test.refuse)
					i := running(t, s, c.new)
					ctx, cancel := context.WithTimeout(quiet.Context(t), time.Hour)
					defer cancel()
					begin := time.Now()
					err := informer.WaitForSync(ctx, time.Minute, i)
					// A request that waits for its answer does not end the wait.
					if test.want != "no right to list" {
						if err != context.DeadlineExceeded {
							t.Errorf("error %v after %s, want none of its own", err, time.Since(begin))
						}
						err = i.Synced()
					} else if took := time.Since(begin); took < time.Minute || took > 66*time.Second {
						t.Errorf("it ends after %s, want a minute", took)
					}
					group, _, _ := strings.Cut(c.apiVersion, "/")
					if want := c.plural + "." + group + ": "; err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), test.want) {
						t.Errorf("error %v, want one with %q that ends with %q", err, want, test.want)
					}
				})
			})
		}
	}
}

// A start takes as long as it makes progress.
func TestWaitForSyncProgress(t *testing.T) {
	for _, test := range []struct {
		reason string
		// answer sends what the nth streaming list, from 0, delivers before it breaks. When it
		// is complete the next list is.
		answer func(n int, send func()) (complete bool)
		// ends is when the wait ends with an error, 0 if it does not.
		ends time.Duration
	}{
		{"a slow list", func(_ int, send func()) bool {
			for range 20 {
				time.Sleep(20 * time.Second)
				send()
			}
			return true
		}, 0},
		{"a stream that is silent for long", func(int, func()) bool {
			time.Sleep(4 * time.Minute)
			return true
		}, 0},
		{"streams that break", func(_ int, send func()) bool {
			send()
			return false
		}, time.Minute},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := testkit.NewAPIServer()
				streams, done := 0, false
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
					done = test.answer(streams, func() {
						_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": foo(fmt.Sprint(time.Now()), "7")})
						w.(http.Flusher).Flush()
					})
					streams++
					_ = json.NewEncoder(w).Encode(map[string]any{"type": "ERROR", "object": apierrors.NewTimeoutError("broken", 0).Status()})
					return true
				})
				i := running(t, s, newFoos)
				ctx, cancel := context.WithTimeout(quiet.Context(t), time.Hour)
				defer cancel()
				begin := time.Now()
				err := informer.WaitForSync(ctx, time.Minute, i)
				took := time.Since(begin)
				if test.ends == 0 && err != nil || test.ends > 0 && (err == nil || took < test.ends || took > test.ends+10*time.Second) {
					t.Errorf("error %v after %s and %d streams, want one after %s, 0 for none", err, took, streams, test.ends)
				}
				if err == nil && took < 2*time.Minute {
					t.Errorf("the list took %s, which shows nothing", took)
				}
			})
		})
	}
}

// While a list is not complete, a log line names the resource and counts the objects
// that were received.
func TestProgress(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := testkit.NewAPIServer()
		s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			for _, name := range []string{"one", "two", "three"} {
				_ = json.NewEncoder(w).Encode(map[string]any{"type": "ADDED", "object": foo(name, "7")})
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		})
		i := running(t, s, newFoos)
		var lines []string
		log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), log), 12*time.Second)
		defer cancel()
		if err := informer.WaitForSync(ctx, time.Minute, i); err != context.DeadlineExceeded {
			t.Errorf("error %v, want the caller's", err)
		}
		const want = `"msg"="Still listing" "resource"="foos.samplecontroller.k8s.io" "received"=3`
		if len(lines) != 2 || !strings.Contains(lines[0], want) {
			t.Errorf("log lines %q, want two with %s", lines, want)
		}
	})
}

// After the sync only a right that is lost makes an informer not ready, until it is back.
func TestReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := testkit.NewAPIServer()
		i := running(t, s, newFoos)
		if err := informer.WaitForSync(t.Context(), time.Minute, i); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			reason string
			refuse func(r *http.Request) *apierrors.StatusError
			want   string
		}{
			{"all is well", nil, ""},
			{"the right to watch is lost", func(r *http.Request) *apierrors.StatusError {
				if verb(r) != "list" {
					return forbidden(r)
				}
				return nil
			}, "no right to"},
			{"it is back", nil, ""},
			{"all rights are lost", forbidden, "no right to"},
			{"they are back", nil, ""},
			{"the account is unknown", func(*http.Request) *apierrors.StatusError { return apierrors.NewUnauthorized("who?") }, "who?"},
			{"it is known", nil, ""},
			{"the server is out of order", func(*http.Request) *apierrors.StatusError {
				return apierrors.NewInternalError(errors.New("out of order"))
			}, ""},
			{"it has too much to do", func(*http.Request) *apierrors.StatusError { return apierrors.NewTooManyRequests("", 0) }, ""},
		} {
			s.Refuse(test.refuse)
			// Only a new request shows it.
			s.EndWatches("foos")
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			switch err := i.Ready(); {
			case test.want == "" && err != nil,
				test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "foos.samplecontroller.k8s.io: ") || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s: error %v, want %q", test.reason, err, test.want)
			}
			if i.Synced() != nil {
				t.Errorf("%s: not synced any more", test.reason)
			}
		}
	})
}

// Run returns within a second, also while the Reflector sleeps after a refusal. What is left
// of it does nothing more.
func TestRunEnds(t *testing.T) {
	for reason, refuse := range map[string]func(r *http.Request) *apierrors.StatusError{
		"a list is not answered": func(r *http.Request) *apierrors.StatusError {
			<-r.Context().Done()
			return nil
		},
		"the server has too much to do": func(*http.Request) *apierrors.StatusError { return apierrors.NewTooManyRequests("", 0) },
	} {
		t.Run(reason, func(t *testing.T) {
			// Chance decides whether the Reflector sleeps when the context ends.
			for range 10 {
				inBubble(t, func(t *testing.T) {
					s := testkit.NewAPIServer()
					s.Refuse(refuse)
					foos := informer.NewFoos(clientset.NewForConfigOrDie(s.Config()), "", 0, cache.ResourceEventHandlerFuncs{})
					ctx, cancel := context.WithTimeout(quiet.Context(t), 5*time.Minute)
					defer cancel()
					foos.Run(ctx)
					end, _ := ctx.Deadline()
					if took := time.Since(end); took > time.Second {
						t.Errorf("Run returns %s after the end of its context", took)
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
