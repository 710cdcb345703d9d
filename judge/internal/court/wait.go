package court

import (
	"fmt"
	"net/http"
	"time"
)

// pause waits.
func (s *stage) pause(d time.Duration) error {
	for end := s.canary.now() + d; ; {
		select {
		case <-time.After(end - s.canary.now()):
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if s.canary.now() >= end {
			return nil
		}
	}
}

// await waits until something is so, and reports whether it was before the time was over.
func (s *stage) await(bound time.Duration, is func() bool) (bool, error) {
	for end := s.canary.now() + bound; !is(); {
		if s.canary.now() > end {
			return false, nil
		}
		if err := s.pause(20 * time.Millisecond); err != nil {
			return false, err
		}
	}
	return true, nil
}

// must waits until something is so. If it is not before the time is over, it finds what wrong returns,
// and the program falls short.
func (s *stage) must(bound time.Duration, is func() bool, wrong func() finding) error {
	done, err := s.await(bound, is)
	if done || err != nil {
		return err
	}
	s.find(wrong())
	return errShort
}

// writesSince returns what the program has tried to write in this namespace.
func (s *stage) writesSince(since time.Time) []request {
	return s.requests(since, func(r request) bool { return r.isWrite() && r.in(s.namespace) })
}

// settle waits until the program writes nothing for a while: P2. What it does over a long
// time the scenario idle shows.
func (s *stage) settle() error {
	const quiet, patience = 2 * time.Second, 30 * time.Second
	begin, written := s.canary.now(), -1
	for since := begin; since < begin+patience; {
		if n := len(s.writesSince(s.begin)); n != written {
			written, since = n, s.canary.now()
		} else if s.canary.now() > since+quiet {
			return nil
		}
		if err := s.pause(100 * time.Millisecond); err != nil {
			return err
		}
	}
	s.find(found(P2, noisy, time.Now(), "There is nothing to do, and for %s the program has not been silent for %s: %d writes in the last 10 s.", patience, quiet, len(s.writesSince(time.Now().Add(-10*time.Second)))))
	return errShort
}

// converge waits until everything is as it must be, and finds what is not when the time is
// over: P1 and P4.
func (s *stage) converge(bound time.Duration) error {
	end, seen := s.canary.now()+bound, -1
	var wrong []finding
	for {
		if s.exitsTooOften() {
			return errShort
		}
		if changes := s.history.changes(); changes != seen && !s.history.behind() {
			if wrong, seen = s.history.wrong(), changes; len(wrong) == 0 {
				return nil
			}
		}
		if s.canary.now() > end {
			break
		}
		if err := s.pause(20 * time.Millisecond); err != nil {
			return err
		}
	}
	if s.history.behind() {
		return notJudged("the judge's own watch is late")
	}
	var theirs []finding
	for _, f := range wrong {
		if f.property != 0 {
			f.text, f.at = fmt.Sprintf("%s It is still so after %s.", f.text, bound), time.Now()
			theirs = append(theirs, f)
		}
	}
	switch writes := s.writesSince(time.Now().Add(-10 * time.Second)); {
	case len(theirs) > 0:
	case len(writes) > 3:
		theirs = append(theirs, found(P1|P2, noisy, time.Now(), "%s After %s the program still writes: %d times in the last 10 s.", wrong[0].text, bound, len(writes)))
	default:
		return notJudged("the controllers of Kubernetes are not done after " + bound.String() + ": " + wrong[0].text)
	}
	s.find(theirs...)
	return errShort
}

// failed returns the requests since a moment that were refused or got no answer.
func (s *stage) failed(since time.Time) []request {
	return s.requests(since, func(r request) bool {
		return r.Code == http.StatusForbidden || r.Code == http.StatusTooManyRequests || r.Code == http.StatusUnprocessableEntity || r.Code >= 500
	})
}
