package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// Bounds of the time after the last step, when only the reconciler, the garbage
// collector and the deployment controller still act.
const (
	restTime         = 2 * time.Minute
	restRequestsAKey = 30
)

// sequence is one run. Everything in it happens in one goroutine at a time, in an
// order that its seed decides.
type sequence struct {
	plan
	rand *rand.Rand
	api  *testkit.APIServer
	// The contents of this sequence.
	strangers, takeovers, faults bool
	namespaces, fooNames, names  []string

	process   *process // the one that runs now
	processes int
	workers   []*worker   // reconciles under way, also of processes that were replaced
	acting    *worker     // the one whose code runs now
	quiet     bool        // little comes from outside
	resting   bool        // nothing does any more, but for the attackers
	waiting   []*attacker // that have not begun
	attackers []*attacker
	begin     time.Time
	stepped   int
	trace     []string
	broken    string // the first rule that was broken
	rules     rules
	typed     map[*unstructured.Unstructured]any
}

func newSequence(t *testing.T, p plan) *sequence {
	s := &sequence{plan: p, begin: time.Now(), rand: rand.New(rand.NewPCG(p.seed, 0)), api: tests.NewAPIServer(), typed: map[*unstructured.Unstructured]any{},
		rules: rules{touched: map[string]int{}, writes: map[string][]*exchange{}, counts: map[string]int{}, sent: map[string][]time.Time{}}}
	s.api.AddNamespace("other")
	s.strangers, s.takeovers, s.faults = s.chance(50), s.chance(50), s.chance(50)
	s.namespaces = []string{"default", "other"}[:1+s.rand.IntN(2)]
	s.fooNames = []string{"a", "b", "c"}[:pick(s, []int{1, 1, 2, 2, 3})]
	s.names = []string{"x1", "x2", "x3"}[:pick(s, []int{2, 3})]
	s.chooseAttackers()
	s.replaceProcess()
	s.note("test", "strangers %t, takeovers %t, faults %t", s.strangers, s.takeovers, s.faults)
	return s
}

// run does the steps and lets the sequence come to rest.
func (s *sequence) run() {
	defer s.kill()
	for s.stepped < s.steps && s.broken == "" {
		s.attack(false)
		s.step(s.everything())
	}
	s.resting = true
	s.note("test", "from here on nothing comes from outside, but for attackers")
	s.siege()
	s.rest()
}

// recovers is for a worker: a panic breaks a rule.
func (s *sequence) recovers() {
	if reason := recover(); reason != nil {
		s.breaks("panic: %v\n%s", reason, debug.Stack())
	}
}

// action does something and returns true, or returns false if there is nothing
// for it to do.
type action struct {
	weight int
	do     func() bool
}

// everything is what may happen in a step. Busy times alternate with quiet ones.
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
		action{1, s.relist}, action{1, s.resync}, action{2, s.takeOver}, action{2, s.timePasses})
}

// inside is what still happens when nothing comes from outside.
func (s *sequence) inside() []action {
	return append(s.attackersAct(), []action{
		{4, s.collectorActs}, {5, s.rolloutActs},
		{10, func() bool { return s.arrive(s.process.foos) }},
		{10, func() bool { return s.arrive(s.process.deployments) }},
		{12, s.workerStarts}, {16, s.workerGoesOn}, {5, s.timerFires},
	}...)
}

// step lets one of the actions happen, and returns false if none can.
func (s *sequence) step(actions []action) bool {
	time.Sleep(time.Duration(1+s.rand.IntN(20)) * time.Millisecond)
	s.process.queue.expire()
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

// siege lets the attackers act for a minute and longer, while nothing else comes from outside.
func (s *sequence) siege() {
	if s.attack(true); len(s.attackers) > 0 {
		end := time.Now().Add(time.Duration(60+s.rand.IntN(30)) * time.Second)
		s.settle(end, 1000)
		time.Sleep(time.Until(end))
		s.endAttacks()
	}
}

// rest lets everything finish, checks the final state, and that even a new process sends nothing.
func (s *sequence) rest() {
	s.settle(time.Now().Add(restTime), restRequestsAKey*len(s.namespaces)*len(s.fooNames))
	s.checkFinalState()
	s.note("test", "everything is looked at again")
	s.resyncAll()
	s.settle(time.Now().Add(restTime), 0)
	s.note("test", "a new process looks at everything")
	s.replaceProcess()
	s.settle(time.Now().Add(restTime), 0)
	s.checkStores()
}

// settle goes on until nothing more can happen, or until end, with at most so many requests.
func (s *sequence) settle(end time.Time, requests int) {
	sent := 0
	for s.api.Requests(); s.broken == "" && time.Now().Before(end); sent += len(s.api.Requests()) {
		if !s.step(s.inside()) {
			if !s.sleep(end) {
				return
			}
		}
		if sent > requests {
			s.breaks("%d requests, at most %d are due", sent, requests)
		}
	}
	if len(s.attackers) == 0 {
		s.breaks("no rest in %v", restTime)
	}
}

func (s *sequence) chance(percent int) bool {
	return s.rand.IntN(100) < percent
}

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
