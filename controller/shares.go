package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
)

// Shares of the workers. Without this file a write that hangs takes a worker from the others
// (TestHangingWritesLeaveWorkersFree):
//
//	0.0 s  In one namespace a webhook does not answer: the write of each of 1,000 Foos fails
//	       after 10 s. 16 workers always have 16 of them.
//	0.1 s  A person creates a Foo elsewhere. Its key is behind all of them.
//	11 min A worker takes it.
//
// So some writes are limited. They run together in
//
//   - half of the workers, if this write was slow the last time. The namespaces that send or wait
//     share this half.
//   - five eighths, if it was, and the last write in its namespace was quick: the fault may have ended.
//   - three quarters, if it has failed twice in a row, or if another write in its namespace was slow
//     within a minute.
//
// The rest is for what is well. Which write will be slow for the first time, nobody can know.

// slowFrom is when a write is slow. On a busy machine one that is well may take half of it.
const slowFrom = time.Second

// shares knows which writes are limited. It is safe for concurrent use.
type shares struct {
	workers int
	// slow has the namespaces in which a write was slow, and whether the last one was; active has
	// those that send or wait.
	slow, active *cache.Expiring

	mu      sync.Mutex
	running map[string]int // limited ones, by namespace
}

// begin reports whether a write may be sent now. If so, the caller calls end after it.
func (s *shares) begin(namespace string, wasSlow, fails bool) (end func(), ok bool) {
	began, limit := time.Now(), s.workers*3/4
	lastWasSlow, isSlow := s.slow.Get(namespace)
	note := func() {
		if took := time.Since(began); took >= slowFrom || isSlow {
			s.slow.Set(namespace, took >= slowFrom, time.Minute)
		}
	}
	switch {
	case wasSlow && lastWasSlow == false:
		limit = s.workers * 5 / 8
	case wasSlow:
		limit = s.workers / 2
	case !isSlow && !fails:
		return note, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active.Set(namespace, nil, 2*CacheRetry)
	sent := 0
	for _, n := range s.running {
		sent += n
	}
	if sent >= max(1, limit) || wasSlow && s.running[namespace] >= max(1, limit/s.active.Len()) {
		return nil, false
	}
	s.running[namespace]++
	return func() {
		note()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[namespace]--; s.running[namespace] == 0 {
			delete(s.running, namespace)
		}
	}, true
}
