package stage

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// Object is a JSON object.
type Object = map[string]any

const MergePatch = types.MergePatchType

func Encoded(patch any) []byte { return Must(json.Marshal(patch)) }

// A step ends its stage like FailNow ends a test: at any depth, deferred calls run and the rest is skipped.

// ended is the panic that ends a stage.
type ended struct{ why error }

// Check ends the stage if err is not nil.
func Check(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// Must returns value, and ends the stage if err is not nil.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Try calls do and returns the error that has ended it, or nil. Any other goroutine than the stage's needs
// its own Try.
func Try(do func()) (err error) {
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

// Fail adds findings and ends the stage.
func (s *Stage) Fail(findings ...verdict.Finding) {
	s.Find(findings...)
	Check(errShort)
}

// Pause waits for d of the canary's time. It ends the stage if the program exits repeatedly.
func (s *Stage) Pause(d time.Duration) {
	for end := s.Canary.Now() + d; ; {
		select {
		case <-time.After(end - s.Canary.Now()):
		case <-s.Ctx.Done():
			Check(s.Ctx.Err())
		}
		if s.exits.Load() >= mostExits {
			Check(errShort)
		}
		if s.Canary.Now() >= end {
			return
		}
	}
}

// Await waits until is returns true, and reports whether it did within the bound.
func (s *Stage) Await(bound time.Duration, is func() bool) bool {
	for end := s.Canary.Now() + bound; !is(); s.Pause(20 * time.Millisecond) {
		if s.Canary.Now() > end {
			return false
		}
	}
	return true
}

// Within waits until is returns true. If it does not within the bound, the program falls short: wrong returns
// the finding.
func (s *Stage) Within(bound time.Duration, is func() bool, wrong func() verdict.Finding) {
	if !s.Await(bound, is) {
		s.Fail(wrong())
	}
}

// Needs waits for something that the program does not do. Without it the scenario is not judged.
func (s *Stage) Needs(bound time.Duration, is func() bool, missing string) {
	if !s.Await(bound, is) {
		Check(NotJudged(missing))
	}
}

// Tries returns the writes that the program has tried since a time.
func (s *Stage) Tries(since time.Time) []verdict.Request {
	return s.Requests(since, func(r verdict.Request) bool { return r.Method != http.MethodGet && r.Target.Namespace == s.Namespace })
}

// WritesSince returns the writes that break a silence. For a program about Foos these are writes of Foos and
// Deployments.
func (s *Stage) WritesSince(since time.Time) []verdict.Request {
	return slices.DeleteFunc(s.Tries(since), func(r verdict.Request) bool {
		return s.Judge.Foos() && !slices.Contains(s.Resources(), r.Target.Resource)
	})
}

// Quiet waits until for d the program has tried no write and nothing that a script compares has changed. It
// reports whether that period began within patience.
func (s *Stage) Quiet(d, patience time.Duration) bool {
	var last script.Snapshot
	begin, written := s.Canary.Now(), -1
	for since := begin; since <= begin+patience; s.Pause(d / 30) {
		now := last
		if s.Judge.Told != nil {
			now, _ = s.Look()
		}
		if n := len(s.WritesSince(s.Begin)); n != written || !maps.Equal(now, last) {
			written, last, since = n, now, s.Canary.Now()
		} else if s.Canary.Now() > since+d {
			return true
		}
	}
	return false
}

// Silent waits until the program writes nothing for a while: P2. The scenario idle checks a long time.
func Silent(s *Stage) {
	const quiet, patience = 2 * time.Second, 30 * time.Second
	if !s.Quiet(quiet, patience) {
		s.Fail(verdict.Found(verdict.P2, verdict.Noisy, time.Now(), "Nothing differs, but in %s the program was never silent for %s: %d writes in the last 10 s.", patience, quiet, len(s.WritesSince(time.Now().Add(-10*time.Second)))))
	}
}

// Converge waits until the state is as required. At the bound it ends the stage with the remaining
// differences: P1 and P4.
func (s *Stage) Converge(bound time.Duration) {
	seen := -1
	var wrong []verdict.Finding
	if s.Await(bound, func() bool {
		changes := s.History.Changes()
		if changes == seen || s.History.Behind() {
			return false
		}
		wrong, seen = s.History.Wrong(), changes
		return len(wrong) == 0
	}) {
		return
	}
	if s.History.Behind() || len(wrong) == 0 {
		Check(NotJudged(Late))
	}
	var theirs []verdict.Finding
	for _, f := range wrong {
		if f.Property != 0 {
			f.Text, f.At = fmt.Sprintf("%s This has not changed in %s.", f.Text, bound), time.Now()
			theirs = append(theirs, f)
		}
	}
	switch writes := s.WritesSince(time.Now().Add(-10 * time.Second)); {
	case len(theirs) > 0:
	case len(writes) > 3:
		theirs = append(theirs, verdict.Found(verdict.P1|verdict.P2, verdict.Noisy, time.Now(), "%s After %s the program still writes: %d times in the last 10 s.", wrong[0].Text, bound, len(writes)))
	default:
		Check(NotJudged("the controllers of Kubernetes have not finished after " + bound.String() + ": " + wrong[0].Text))
	}
	s.Fail(theirs...)
}

// Late: the judge has not received its own writes.
const Late = "the judge's own watch lags behind"

// Failed returns the requests since a time that were rejected with 403, 422, 429 or 5xx.
func (s *Stage) Failed(since time.Time) []verdict.Request {
	return s.Requests(since, func(r verdict.Request) bool {
		return r.Code == http.StatusForbidden || r.Code == http.StatusTooManyRequests || r.Code == http.StatusUnprocessableEntity || r.Code >= 500
	})
}
