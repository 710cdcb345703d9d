package court

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"example.com/byhand/kit/testkit"
)

// What the proxy answers in the place of the API server.

// handler does something with a request. What it returns false for is passed on.
type handler = func(w http.ResponseWriter, r *http.Request) (done bool)

// refuse answers as an API server does that says no.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) bool {
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	return answer(w, code, reason, "refused by the judge")
}

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code)})
	return true
}

// overloaded answers half of the requests of each method for each resource with 500, 503 or
// 429, always in the same order, so that no program passes by luck.
func overloaded(*stage) handler {
	var mu sync.Mutex
	sent := map[string]int{}
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		kind := r.Method + " " + testkit.TargetOf(r.URL.Path).Resource
		n := sent[kind] % 6
		sent[kind]++
		mu.Unlock()
		switch n {
		case 0:
			return refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
		case 1:
			return refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		case 3:
			return refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
		default:
			return false
		}
	}
}

// refusing refuses every write of a Deployment.
func refusing(code int, reason metav1.StatusReason) func(*stage) handler {
	return func(*stage) handler {
		return func(w http.ResponseWriter, r *http.Request) bool {
			return writesDeployment(r) && refuse(w, code, reason)
		}
	}
}

func writesDeployment(r *http.Request) bool {
	return r.Method != http.MethodGet && testkit.TargetOf(r.URL.Path).Resource == "deployments"
}

// denying refuses every write of a Deployment as a webhook does that gives each of its decisions
// an identifier.
func denying(*stage) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return writesDeployment(r) && answer(w, http.StatusForbidden, "",
			denial())
	}
}

func denial() string {
	return fmt.Sprintf("admission webhook %q denied the request: decision %s", "policy.example.com", uuid.NewUUID())
}

// bookmarkless makes the API server send no BOOKMARK event, as if a proxy had lost it.
func bookmarkless(_ http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	query.Del("allowWatchBookmarks")
	r.URL.RawQuery = query.Encode()
	return false
}

// unreadable refuses every list, get and watch.
func unreadable(*stage) handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	}
}

// hanging answers nothing until the time is over, and then passes on what still waits.
func hanging(d time.Duration) func(*stage) handler {
	return func(*stage) handler {
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
			return !streaming && refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
		}
		if query.Get("watch") == "" && query.Get("resourceVersion") == "0" {
			query.Set("resourceVersion", to)
			query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
			r.URL.RawQuery = query.Encode()
		}
		return false
	}
}
