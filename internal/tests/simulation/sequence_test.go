package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// A sequence has random actions of users, other clients, the garbage collector, the Deployment controller, a
// failing API server and a new process, while the watches lag. Then at most one fault lasts for a minute and
// nothing else happens (faults_test.go). The rules in rules_test.go hold for each request, and the final state
// matches the last specs.
//
// Informers, queue and workers are the program's own. Each event, reconcile, request and response waits for
// its turn, in virtual time, and a seed decides whose turn it is.

var sequencesFlag = flag.Int("sequences", 300, "the `number` of sequences")

// Bounds of the time after the last step, when only the controller, the garbage collector and the Deployment
// controller still act.
const (
	steps           = 110
	restTime        = 2 * time.Minute
	restRequestsFoo = 30
)

func TestSequences(t *testing.T) {
	for seed := range *sequencesFlag {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSequence(t, uint64(seed))
				if s.run(); s.broken != "" {
					t.Errorf("%s\n\n%s", strings.Join(s.trace, "\n"), s.broken)
				}
			})
		})
	}
}

// sequence is one run. The seed decides the order of its steps. Go decides the order of goroutines between two
// steps, so a second run of a seed may differ.
type sequence struct {
	*testing.T
	rand *rand.Rand
	api  *testkit.APIServer
	// The possible actions in this sequence, and the names of Foos and their Deployments.
	strangers, takeovers, faults bool
	foos, names                  []string

	process   *process // the running process
	processes int
	quiet     bool                   // users and strangers do little
	resting   bool                   // users and strangers do nothing
	lasting   fault                  // while resting, for a minute
	writes    map[string][]*exchange // by path
	sent      map[string][]time.Time // see checkRate

	wakes  chan struct{} // has an element if a goroutine has begun to wait
	mu     sync.Mutex    // protects the fields below
	turns  []*turn
	trace  []string
	broken string // the first rule that was broken
}

func newSequence(t *testing.T, seed uint64) *sequence {
	s := &sequence{T: t, rand: rand.New(rand.NewPCG(seed, 0)), api: tests.NewAPIServer(),
		writes: map[string][]*exchange{}, sent: map[string][]time.Time{}, wakes: make(chan struct{}, 1)}
	s.strangers, s.takeovers, s.faults = s.chance(50), s.chance(50), s.chance(50)
	s.foos = []string{"a", "b", "c"}[:1+s.rand.IntN(3)]
	s.names = []string{"x1", "x2", "x3"}[:2+s.rand.IntN(2)]
	return s
}

// run does the steps, lets the sequence come to rest, and checks that a new process sends nothing then.
func (s *sequence) run() {
	s.startProcess()
	defer func() { s.process.kill() }()
	for range steps {
		s.step(s.everything())
	}
	s.resting, s.lasting = true, s.newFault()
	s.note("test", "users and strangers stop; %s", s.lasting.what)
	s.settle(time.Minute+time.Duration(s.rand.IntN(30))*time.Second, 1000)
	s.lasting = fault{}
	s.note("test", "the fault ends")
	s.settle(restTime, restRequestsFoo*len(s.foos))
	s.checkFinalState()
	s.startProcess()
	s.settle(restTime, 0)
}

// action is a possible step. do returns false if there is nothing to do.
type action struct {
	weight int
	do     func() bool
}

// everything returns all possible actions. Busy times alternate with quiet times, in which the objects converge.
func (s *sequence) everything() []action {
	if s.chance(4) {
		s.quiet = !s.quiet
	}
	users, strangers := 6, 8
	if s.quiet {
		users, strangers = 1, 1
	}
	return append(s.inside(), action{users, s.userActs}, action{strangers, s.strangerActs}, action{2, s.takeOver}, action{2, s.timePasses})
}

// inside returns the actions that continue while users and strangers do nothing.
func (s *sequence) inside() []action {
	return []action{{50, s.nextTurn}, {4, s.collectorActs}, {5, s.rolloutActs}, {8, s.faultActs}}
}

// step lets one of the actions happen, and returns false if none can.
func (s *sequence) step(actions []action) bool {
	time.Sleep(time.Duration(1+s.rand.IntN(20)) * time.Millisecond)
	synctest.Wait()
	for len(actions) > 0 {
		total := 0
		for _, a := range actions {
			total += a.weight
		}
		i, n := 0, s.rand.IntN(total)
		for ; n >= actions[i].weight; i++ {
			n -= actions[i].weight
		}
		if actions[i].do() {
			synctest.Wait()
			return true
		}
		actions = slices.Delete(actions, i, i+1)
	}
	return false
}

// settle lets time pass, with at most this number of requests.
func (s *sequence) settle(d time.Duration, requests int) {
	end := time.Now().Add(d)
	sent := 0
	for s.api.Requests(); s.broken == "" && time.Now().Before(end); sent += len(s.api.Requests()) {
		if sent > requests {
			s.breaks("%d requests, want at most %d", sent, requests)
		}
		if !s.step(s.inside()) {
			select { // wait for the next turn
			case <-s.wakes:
			case <-time.After(time.Until(end)):
			}
		}
	}
}

// turn is a waiting event, reconcile, request or response.
type turn struct {
	what string
	come chan struct{}
}

// wait returns when it is the caller's turn, and false if done comes first.
func (s *sequence) wait(done <-chan struct{}, what string) bool {
	mine := &turn{what, make(chan struct{})}
	s.mu.Lock()
	s.turns = append(s.turns, mine)
	s.mu.Unlock()
	select {
	case s.wakes <- struct{}{}:
	default:
	}
	select {
	case <-mine.come:
		return true
	case <-done:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t == mine })
		return false
	}
}

// nextTurn lets one of the waiting goroutines continue.
func (s *sequence) nextTurn() bool {
	s.mu.Lock()
	var free []*turn
	for _, t := range s.turns {
		if s.lasting.holds == "" || !strings.HasPrefix(t.what, s.lasting.holds) {
			free = append(free, t)
		}
	}
	s.mu.Unlock()
	if len(free) == 0 {
		return false
	}
	slices.SortStableFunc(free, func(a, b *turn) int { return cmp.Compare(a.what, b.what) })
	next := pick(s, free)
	s.mu.Lock()
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t == next })
	s.mu.Unlock()
	s.note("turn", "%s", next.what)
	close(next.come)
	return true
}

func (s *sequence) timePasses() bool {
	d := time.Duration(s.rand.IntN(40)) * time.Second
	time.Sleep(d)
	s.note("time", "%v pass", d)
	return true
}

func (s *sequence) chance(percent int) bool { return s.rand.IntN(100) < percent }

// pick returns one of the elements.
func pick[T any](s *sequence, of []T) T { return of[s.rand.IntN(len(of))] }

// note adds a line to the trace, which ends where a rule is broken.
func (s *sequence) note(who, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == "" {
		s.trace = append(s.trace, fmt.Sprintf("%-10s %s", who, fmt.Sprintf(format, args...)))
	}
}

// breaks records that a rule is broken. Only the first broken rule counts.
func (s *sequence) breaks(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = cmp.Or(s.broken, fmt.Sprintf(format, args...))
}
