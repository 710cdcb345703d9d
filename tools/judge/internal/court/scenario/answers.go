package scenario

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/stage"
)

// Responses that the proxy sends instead of the API server.

// handler handles a request. If it returns false, the proxy forwards the request.
type handler = func(w http.ResponseWriter, r *http.Request) (done bool)

// Disturbance returns the handler of a stage.
type Disturbance = func(*stage.Stage) handler

// refuse responds with an error, as the API server does.
func refuse(w http.ResponseWriter, code int) bool {
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	return answer(w, code, "refused by the judge")
}

// Denied is the code for a webhook's denial: 403 without a reason.
const Denied = 0

// reasons are the API server's reasons, by code.
var reasons = map[int]metav1.StatusReason{
	http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusGone: metav1.StatusReasonExpired, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
}

func answer(w http.ResponseWriter, code int, message string) bool {
	testkit.WriteError(w, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Reason: reasons[code], Message: message, Code: int32(cmp.Or(code, http.StatusForbidden))}})
	return true
}

// Overloaded rejects half of the requests of each method for each resource with 500, 503 or 429. The order is
// fixed, so no program passes by luck.
func Overloaded(*stage.Stage) handler {
	var mu sync.Mutex
	sent, codes := map[string]int{}, map[int]int{0: http.StatusInternalServerError, 1: http.StatusServiceUnavailable, 3: http.StatusTooManyRequests}
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		kind := r.Method + " " + testkit.TargetOf(r.URL.Path).Resource
		n := sent[kind] % 6
		sent[kind]++
		mu.Unlock()
		code, refused := codes[n]
		return refused && refuse(w, code)
	}
}

// Refusing rejects each write of an object that the program makes. If methods are given, it rejects only
// these. Denied acts as a webhook that adds an identifier to each decision; it admits the user's objects.
func Refusing(code int, methods ...string) func(*stage.Stage) handler {
	return func(s *stage.Stage) handler {
		return func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !WritesMade(s, r) || len(methods) > 0 && !slices.Contains(methods, r.Method):
				return false
			case code == Denied && slices.Contains(s.Users(), testkit.TargetOf(r.URL.Path).Resource):
				return false
			case code == Denied:
				return answer(w, Denied, fmt.Sprintf("admission webhook %q denied the request: decision %s", "policy.example.com", uuid.NewUUID()))
			default:
				return refuse(w, code)
			}
		}
	}
}

// WritesMade reports whether a request writes an object that the program makes. If the program is about Foos,
// that is a Deployment. In a script it may also be the user's object: many programs write only its status,
// annotations or finalizers.
func WritesMade(s *stage.Stage, r *http.Request) bool {
	resource := testkit.TargetOf(r.URL.Path).Resource
	if s.Judge.Foos() {
		return r.Method != http.MethodGet && resource == "deployments"
	}
	return r.Method != http.MethodGet && resource != "events"
}

// bookmarkless makes the API server send no BOOKMARK event, as if a proxy had lost it.
func bookmarkless(_ http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	query.Del("allowWatchBookmarks")
	r.URL.RawQuery = query.Encode()
	return false
}

// Unreadable rejects every list, get and watch.
func Unreadable(*stage.Stage) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && refuse(w, http.StatusServiceUnavailable)
	}
}

// Hanging delays each request until d is over, and then forwards the waiting ones.
func Hanging(d time.Duration) func(*stage.Stage) handler {
	return func(*stage.Stage) handler {
		over := make(chan struct{})
		time.AfterFunc(d, func() { close(over) })
		return func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-over:
				return false
			case <-r.Context().Done():
				return true
			}
		}
	}
}

// travel answers lists of the user's objects that allow old data (resourceVersion=0) with an earlier
// version, and counts them in Stage.Met. It forwards streaming lists. If streaming is false it rejects them,
// like an API server without support for them.
func travel(s *stage.Stage, to string, streaming bool) handler {
	resources := s.Users()
	return func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		if r.Method != http.MethodGet || !slices.Contains(resources, testkit.TargetOf(r.URL.Path).Resource) || testkit.TargetOf(r.URL.Path).Name != "" {
			return false
		}
		if query.Get("sendInitialEvents") != "" {
			return !streaming && refuse(w, http.StatusUnprocessableEntity)
		}
		if query.Get("watch") == "" && query.Get("resourceVersion") == "0" {
			query.Set("resourceVersion", to)
			query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
			r.URL.RawQuery = query.Encode()
			s.Met.Add(1)
		}
		return false
	}
}
