package court

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/byhand/kit/testkit"
)

// request is one that the program has sent.
type request struct{ testkit.Request }

// requests returns the requests since a moment that want picks; without those for Events and locks.
func (s *stage) requests(since time.Time, want func(request) bool) (found []request) {
	for _, line := range s.proxy.Log() {
		if r := (request{line}); !r.At.Before(since) && r.Target.Resource != "events" && !s.judge.isLock(r.Target) && want(r) {
			found = append(found, r)
		}
	}
	return found
}

// heardSince reports whether any request has come.
func (s *stage) heardSince(since time.Time) bool {
	log := s.proxy.Log()
	return len(log) > 0 && !log[len(log)-1].At.Before(since)
}

// lostLease reports whether the last request for a Lease, or another lock, has failed: who cannot renew one has to end.
func (s *stage) lostLease() bool {
	for _, r := range slices.Backward(s.proxy.Log()) {
		if s.judge.isLock(r.Target) {
			return r.Code == 0 || r.Code >= http.StatusBadRequest
		}
	}
	return false
}

func (r request) String() string {
	answer := "no answer"
	if r.Code != 0 {
		answer = fmt.Sprint(r.Code)
	}
	verb := r.Method
	if r.Watch {
		verb = "WATCH"
	}
	what := r.Path
	if r.Target.Resource != "" {
		what = r.Target.String() // The namespace is the scenario's.
	}
	return fmt.Sprintf("%s  %-6s %s → %s", r.At.Format("15:04:05.000"), verb, what, answer)
}
