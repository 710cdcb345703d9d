package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/testkit"
)

// Bounds of the time after the last step, when only the reconciler, the garbage
// collector and the deployment controller still act.
const (
	restSteps        = 400
	restRequestsAKey = 25
)

// sequence is one run. Everything in it happens in one goroutine at a time, in an
// order that its seed decides.
type sequence struct {
	seed  uint64
	steps int
	rand  *rand.Rand
	api   *testkit.APIServer
	// What this sequence has in it.
	strangers, takeovers, faults bool
	namespaces, fooNames, names  []string
	patient                      bool // one user alone, who waits after each change

	process   *process // the one that runs now
	processes int
	workers   []*worker // reconciles under way, also of processes that were replaced
	acting    *worker   // the one whose code runs now
	quiet     bool      // little comes from outside
	resting   bool      // nothing does any more
	stepped   int
	trace     []string
	broken    string // the first rule that was broken
	rules     rules
	typed     map[*unstructured.Unstructured]any
}

func newSequence(t *testing.T, seed uint64, steps int) *sequence {
	s := &sequence{seed: seed, steps: steps, rand: rand.New(rand.NewPCG(seed, 0)), api: testkit.NewAPIServer(), typed: map[*unstructured.Unstructured]any{}, rules: newRules()}
	s.api.AddNamespace("other")
	s.strangers, s.takeovers, s.faults = s.chance(50), s.chance(50), s.chance(50)
	s.namespaces = []string{"default", "other"}[:1+s.rand.IntN(2)]
	s.fooNames = []string{"a", "b", "c"}[:pick(s, []int{1, 1, 2, 2, 3})]
	s.names = []string{"x", "y", "z"}[:pick(s, []int{2, 3})]
	s.replaceProcess()
	s.note("test", "strangers %t, takeovers %t, faults %t", s.strangers, s.takeovers, s.faults)
	return s
}

// run does the steps and lets the sequence come to rest.
func (s *sequence) run() {
	defer s.end()
	for s.stepped < s.steps && s.broken == "" {
		s.step(s.everything())
	}
	s.rest()
}

// end leaves no worker behind. Deferred: a panic breaks a rule.
func (s *sequence) end() {
	if reason := recover(); reason != nil {
		s.breaks("panic: %v", reason)
	}
	s.kill()
}

// action does something and returns true, or returns false if there is nothing
// for it to do.
type action struct {
	weight int
	do     func() bool
}

// everything is what may happen in a step. Times in which much comes from outside
// take turns with times in which little does, and things can settle.
func (s *sequence) everything() []action {
	if s.chance(4) {
		s.quiet = !s.quiet
	}
	users, strangers := 6, 8
	if s.quiet {
		users, strangers = 1, 1
	}
	return append(s.inside(),
		action{users, s.userActs}, action{strangers, s.strangerActs},
		action{1, s.relist}, action{1, s.resync}, action{2, s.takeOver})
}

// inside is what still happens when nothing comes from outside.
func (s *sequence) inside() []action {
	return []action{
		{4, s.collectorActs}, {5, s.rolloutActs},
		{10, func() bool { return s.arrive(s.process.foos) }},
		{10, func() bool { return s.arrive(s.process.deployments) }},
		{12, s.workerStarts}, {16, s.workerGoesOn}, {5, s.timerFires},
	}
}

// step lets one of the actions happen, and returns false if none can.
func (s *sequence) step(actions []action) bool {
	for s.stepped++; len(actions) > 0; {
		total := 0
		for _, a := range actions {
			total += a.weight
		}
		i, n := 0, s.rand.IntN(total)
		for ; n >= actions[i].weight; i++ {
			n -= actions[i].weight
		}
		if actions[i].do() {
			return true
		}
		actions = slices.Delete(actions, i, i+1)
	}
	return false
}

// rest lets everything come to an end and checks what is left: the final state,
// and the silence after it, also of a process that begins there.
func (s *sequence) rest() {
	s.resting = true
	s.note("test", "from here on nothing comes from outside")
	s.settle(restRequestsAKey * len(s.namespaces) * len(s.fooNames))
	s.checkFinalState()
	s.note("test", "everything is looked at again")
	s.resyncAll()
	s.settle(0)
	s.note("test", "a new process looks at everything")
	s.replaceProcess()
	s.settle(0)
	s.checkStores()
}

// settle goes on until nothing more can happen, with at most so many requests.
func (s *sequence) settle(requests int) {
	s.api.Requests()
	sent := 0
	for end := s.stepped + restSteps; s.broken == "" && s.step(s.inside()); {
		if s.stepped > end {
			s.breaks("no rest after %d steps", restSteps)
		}
		if sent += len(s.api.Requests()); sent > requests {
			s.breaks("%d requests, at most %d are due", sent, requests)
		}
	}
}

func (s *sequence) chance(percent int) bool {
	return s.rand.IntN(100) < percent
}

// pick returns one of the elements.
func pick[T any](s *sequence, of []T) T {
	return of[s.rand.IntN(len(of))]
}

// note adds a line to the trace, which ends where a rule is broken.
func (s *sequence) note(who, format string, args ...any) {
	if s.broken != "" {
		return
	}
	s.trace = append(s.trace, fmt.Sprintf("%4d  %-12s %s", s.stepped, who, fmt.Sprintf(format, args...)))
}

// breaks notes that a rule is broken. Only the first one counts.
func (s *sequence) breaks(format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	s.note("BROKEN", "%s", rule)
	s.broken = cmp.Or(s.broken, rule)
}
