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

// What the proxy answers in the place of the API server.

// handler does something with a request. What it returns false for is passed on.
type handler = func(w http.ResponseWriter, r *http.Request) (done bool)

// refuse answers as an API server does that says no.
func refuse(w http.ResponseWriter, code int) bool {
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	return answer(w, code, "refused by the judge")
}

// Denied stands for the code of what a webhook denies: 403, without a reason.
const Denied = 0

// reasons are those that an API server gives with a code.
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

// Overloaded answers half of the requests of each method for each resource with 500, 503 or
// 429, always in the same order, so that no program passes by luck.
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

// Refusing refuses every write of what the program makes, with these methods if any are named. It is denied as by a
// webhook that gives each of its decisions an identifier.
func Refusing(code int, methods ...string) func(*stage.Stage) handler {
	return func(s *stage.Stage) handler {
		return func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case !WritesMade(s, r) || len(methods) > 0 && !slices.Contains(methods, r.Method):
				return false
			case code == Denied:
				return answer(w, Denied, fmt.Sprintf("admission webhook %q denied the request: decision %s", "policy.example.com", uuid.NewUUID()))
			default:
				return refuse(w, code)
			}
		}
	}
}

// WritesMade reports whether a request writes an object that the program makes: of a program about Foos, a Deployment. In
// a script it may also be the user's object: many programs write only its status, annotations or finalizers.
func WritesMade(s *stage.Stage, r *http.Request) bool {
	resource := testkit.TargetOf(r.URL.Path).Resource
	switch {
	case r.Method == http.MethodGet:
		return false
	case s.Judge.Foos():
		return resource == "deployments"
	case s.Judge.Told != nil:
		return resource != "events"
	}
	return !slices.Contains(s.Ours(), resource)
}

// bookmarkless makes the API server send no BOOKMARK event, as if a proxy had lost it.
func bookmarkless(_ http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	query.Del("allowWatchBookmarks")
	r.URL.RawQuery = query.Encode()
	return false
}

// Unreadable refuses every list, get and watch.
func Unreadable(*stage.Stage) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && refuse(w, http.StatusServiceUnavailable)
	}
}

// Hanging answers nothing until the time is over, and then passes on what still waits.
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

// travel answers lists of these resources that may be old as of an earlier version. Streaming lists are
// passed on, or refused, as by an API server that has none.
func travel(resources []string, to string, streaming bool) handler {
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
		}
		return false
	}
}
