package court

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"example.com/byhand/tools/judge/script"
)

// A step ends its stage as a test ends itself with FailNow: from however deep it was called, what is deferred is done, and
// the rest is not.

// ended is the panic that ends a stage.
type ended struct{ why error }

// check ends the stage if there is an error.
func check(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// must returns the value of a call, and ends the stage if that has failed.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// try returns why what it does has ended, nil if it was done. What another goroutine than that of the stage does, it does in
// a try of its own.
func try(do func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case ended:
			err = reason.why
		default:
			panic(reason)
		}
	}()
	do()
	return nil
}

// fail ends the stage with what it has found.
func (s *stage) fail(findings ...finding) {
	s.find(findings...)
	check(errShort)
}

// pause waits. The stage ends if the program ends again and again.
func (s *stage) pause(d time.Duration) {
	for end := s.canary.now() + d; ; {
		select {
		case <-time.After(end - s.canary.now()):
		case <-s.ctx.Done():
			check(s.ctx.Err())
		}
		if s.exits.Load() >= mostExits {
			check(errShort)
		}
		if s.canary.now() >= end {
			return
		}
	}
}

// await waits until something is so, and reports whether it was before the time was over.
func (s *stage) await(bound time.Duration, is func() bool) bool {
	for end := s.canary.now() + bound; !is(); s.pause(20 * time.Millisecond) {
		if s.canary.now() > end {
			return false
		}
	}
	return true
}

// within waits until something is so. If it is not before the time is over, the program falls short of it, as wrong
// says.
func (s *stage) within(bound time.Duration, is func() bool, wrong func() finding) {
	if !s.await(bound, is) {
		s.fail(wrong())
	}
}

// needs waits for what others than the program do. Without it nothing can be judged.
func (s *stage) needs(bound time.Duration, is func() bool, missing string) {
	if !s.await(bound, is) {
		check(notJudged(missing))
	}
}

// tries are the writes that the program has tried since a moment.
func (s *stage) tries(since time.Time) []request {
	return s.requests(since, func(r request) bool { return r.Method != http.MethodGet && r.Target.Namespace == s.namespace })
}

// writesSince are those that count for a silence: of a program about Foos those of Foos and Deployments.
func (s *stage) writesSince(since time.Time) []request {
	return slices.DeleteFunc(s.tries(since), func(r request) bool { return s.judge.foos() && !slices.Contains(s.resources(), r.Target.Resource) })
}

// quiet waits until the program has tried no write for some time, and nothing that a script compares has changed. It reports
// whether that has begun before patience was over.
func (s *stage) quiet(d, patience time.Duration) bool {
	var last script.Snapshot
	begin, written := s.canary.now(), -1
	for since := begin; since <= begin+patience; s.pause(d / 30) {
		now := last
		if s.judge.told != nil {
			now, _ = s.look()
		}
		if n := len(s.writesSince(s.begin)); n != written || !maps.Equal(now, last) {
			written, last, since = n, now, s.canary.now()
		} else if s.canary.now() > since+d {
			return true
		}
	}
	return false
}

// silent waits until the program writes nothing for a while: P2. What it does over a long
// time the scenario idle shows.
func silent(s *stage) {
	const quiet, patience = 2 * time.Second, 30 * time.Second
	if !s.quiet(quiet, patience) {
		s.fail(found(P2, noisy, time.Now(), "There is nothing to do, and for %s the program has not been silent for %s: %d writes in the last 10 s.", patience, quiet, len(s.writesSince(time.Now().Add(-10*time.Second)))))
	}
}

// converge waits until everything is as it must be, and finds what is not when the time is
// over: P1 and P4.
func (s *stage) converge(bound time.Duration) {
	seen := -1
	var wrong []finding
	if s.await(bound, func() bool {
		changes := s.history.changes()
		if changes == seen || s.history.behind() {
			return false
		}
		wrong, seen = s.history.wrong(), changes
		return len(wrong) == 0
	}) {
		return
	}
	if s.history.behind() || len(wrong) == 0 {
		check(notJudged(late))
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
		check(notJudged("the controllers of Kubernetes are not done after " + bound.String() + ": " + wrong[0].text))
	}
	s.fail(theirs...)
}

// late: the judge does not see what it has done itself.
const late = "the judge's own watch is late"

// failed returns the requests since a moment that were refused or got no answer.
func (s *stage) failed(since time.Time) []request {
	return s.requests(since, func(r request) bool {
		return r.Code == http.StatusForbidden || r.Code == http.StatusTooManyRequests || r.Code == http.StatusUnprocessableEntity || r.Code >= 500
	})
}
