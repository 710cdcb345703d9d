package stage

import (
	"net/http"
	"slices"
	"time"

	"example.com/byhand/tools/judge/internal/court/verdict"
)

// Requests returns the program's requests since a time for which want returns true. It omits Events and
// spared requests.
func (s *Stage) Requests(since time.Time, want func(verdict.Request) bool) (found []verdict.Request) {
	for _, line := range s.Proxy.Log() {
		if r := (verdict.Request{Request: line}); !r.At.Before(since) && r.Target.Resource != "events" && !Spared(r.Target) && want(r) {
			found = append(found, r)
		}
	}
	return found
}

// heardSince reports whether the program has sent a request since a time.
func (s *Stage) heardSince(since time.Time) bool {
	log := s.Proxy.Log()
	return len(log) > 0 && !log[len(log)-1].At.Before(since)
}

// lostLease reports whether the last request about a Lease has failed: then the program has
// to exit.
func (s *Stage) lostLease() bool {
	for _, r := range slices.Backward(s.Proxy.Log()) {
		if r.Target.Resource == "leases" {
			return r.Code == 0 || r.Code >= http.StatusBadRequest
		}
	}
	return false
}
