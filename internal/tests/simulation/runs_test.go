package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"
)

// Random sequences of actions by users, other clients, the garbage collector, the Deployment controller, a
// failing server and a new process, with stores that lag. Then at most two faults last for a minute and
// nothing else happens (attackers_test.go). The rules in checks_test.go hold after each request, and the
// final state matches the last specs. One
// goroutine runs at a time, in virtual time, and a seed decides everything.

var (
	seedFlag      = flag.Uint64("seed", 0, "run the one sequence that has this `seed`")
	sequencesFlag = flag.Int("sequences", 300, "how many sequences to run")
	stepsFlag     = flag.Int("steps", 110, "how many steps each sequence has before it comes to rest")
)

// plan is what a sequence is made from.
type plan struct {
	seed  uint64
	steps int
}

func TestSequences(t *testing.T) {
	run := func(p plan) (s *sequence) {
		synctest.Test(t, func(t *testing.T) {
			s = newSequence(t, p)
			s.run()
		})
		return s
	}
	first, count := uint64(1), uint64(*sequencesFlag)
	if *seedFlag != 0 {
		first, count = *seedFlag, 1
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var failed []*sequence
	requests := map[string]int{}
	var next atomic.Uint64
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for n := next.Add(1) - 1; n < count; n = next.Add(1) - 1 {
				s := run(plan{first + n, *stepsFlag})
				mu.Lock()
				for what, count := range s.rules.counts {
					requests[what] += count
				}
				if s.broken != "" {
					failed = append(failed, s)
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	t.Logf("%d sequences, requests: %v", count, requests)
	if len(failed) > 0 {
		reportSequences(t, failed, run)
	}
}

// A sequence is the same each time, or a seed would be of no use.
func TestSequencesRepeat(t *testing.T) {
	for seed := range uint64(20) {
		var traces [2][]string
		for i := range traces {
			synctest.Test(t, func(t *testing.T) {
				s := newSequence(t, plan{seed: seed, steps: *stepsFlag})
				s.run()
				traces[i] = s.trace
			})
		}
		if diff := gocmp.Diff(traces[0], traces[1]); diff != "" {
			t.Fatalf("seed %d, first and second time:\n%s", seed, diff)
		}
	}
}

// reportSequences fails the test with the shortest trace that can be had of these
// sequences.
func reportSequences(t *testing.T, failed []*sequence, run func(p plan) *sequence) {
	t.Helper()
	slices.SortFunc(failed, func(a, b *sequence) int { return cmp.Compare(a.seed, b.seed) })
	var rules []string
	var shortest *sequence
	for i, s := range failed {
		rule, _, _ := strings.Cut(s.broken, "\n")
		rules = append(rules, fmt.Sprintf("seed %d: %s", s.seed, rule))
		if i < 10 {
			s = shorten(s, run)
		}
		if shortest == nil || len(s.trace) < len(shortest.trace) {
			shortest = s
		}
	}
	t.Errorf("%s\n\n%s\n\n%s\n\nThis trace again: go test ./internal/tests/simulation -run '^%s$' -seed=%d -steps=%d",
		strings.Join(rules, "\n"), strings.Join(shortest.trace, "\n"), shortest.broken, t.Name(), shortest.seed, shortest.steps)
}

// shorten returns the shortest beginning of a sequence that also breaks a rule when it comes to rest there.
func shorten(whole *sequence, run func(p plan) *sequence) *sequence {
	for steps := range whole.steps {
		if s := run(plan{whole.seed, steps}); s.broken != "" {
			return s
		}
	}
	return whole
}
