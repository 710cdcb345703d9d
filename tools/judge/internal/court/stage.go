package court

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"example.com/byhand/kit/testkit"
)

// stage is one run of a scenario: a namespace, its history, and the program, newly started,
// behind a proxy of its own.
type stage struct {
	*world
	proxy     *testkit.Faults
	through   string             // the kubeconfig of the program
	stop      func() error       // ends the proxy
	api       *testkit.APIServer // in memory, or nil
	kube      kubernetes.Interface
	dynamic   dynamic.Interface
	ctx       context.Context
	scenario  *scenario
	namespace string
	history   *history
	begin     time.Time
	blind     []blindness
	runs      []*inMemory   // of the program in memory
	lax       bool          // the API server in memory admits any Foo
	sent      atomic.Int64  // how many requests the program in memory has sent
	alone     time.Duration // how long a good Foo takes alone
	part      *part         // of a script that a user tells

	mu       sync.Mutex
	programs []process
	findings []finding
	remarks  []string
	exits    atomic.Int32
	// tolerant: that a program ends says nothing about it.
	tolerant, ending atomic.Bool
	playing          sync.WaitGroup
}

// errShort ends a stage: the rest of it would say nothing more.
var errShort = errors.New("the program falls short")

// notJudged ends a stage that says nothing about the program.
type notJudged string

func (n notJudged) Error() string { return string(n) }

// perform runs the steps of a scenario in a namespace of its own, with a program of its
// own, and returns what it found.
func (w *world) perform(ctx context.Context, sc *scenario, steps ...step) (*stage, error) {
	s := &stage{world: w, ctx: ctx, scenario: sc, namespace: fmt.Sprintf("judge-%s-%d", sc.name, w.stages.Add(1)), begin: time.Now()}
	err := try(func() {
		s.open()
		s.take(steps...)
		if sc.judged&P2 != 0 && w.judge.foos() {
			silent(s)
			if sc.judged&P1 != 0 {
				s.converge(10 * time.Second) // It has stayed.
			}
		}
	})
	if s.history == nil {
		return s, err
	}
	for end := time.Now().Add(5 * time.Second); s.history.behind() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if closing := s.close(); err == nil {
		err = closing
	}
	if s.history.complete() {
		s.find(s.history.overTime(append(s.blind, s.canary.slow(s.begin)...))...)
	} else {
		s.remark("the judge has missed versions, and has not reviewed the others")
	}
	s.explain()
	if errors.Is(err, errShort) {
		err = nil
		if t := s.judge.told; t != nil && !sc.calibrates && len(s.findings) > 0 && s.part.step >= 0 {
			s.remark("the scenario has ended with step %s: what would come after this is not judged until it is mended, or allowed", t.Steps[s.part.step].Name)
		}
	}
	return s, err
}

// open makes the namespaces and the proxy, and starts the program.
func (s *stage) open() {
	if s.judge.contract != nil {
		s.openInMemory()
	} else {
		s.openBehindProxy()
	}
	if s.history.unplayed = s.scenario.unplayed; s.bare && !s.scenario.unplayed {
		s.playing.Go(func() { _ = try(s.playDeployments) })
	}
	check(s.startProgram())
}

func (s *stage) openBehindProxy() {
	s.kube, s.dynamic = s.world.kube, s.world.dynamic
	for _, name := range []string{s.namespace, s.leases()} {
		must(s.kube.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	dir := must(os.MkdirTemp(s.judge.dir, ""))
	proxy := must(testkit.NewProxy(s.plane.Config))
	s.proxy, s.stop = &proxy.Faults, proxy.Close
	s.proxy.Kill = s.killAndStartAgain
	s.confine(s.proxy.Next)
	s.through = must(proxy.Kubeconfig(dir))
	if s.judge.told != nil {
		s.openScript(dir)
	} else {
		s.history = must(s.follow(s.ctx, s.namespace))
	}
}

// take takes steps, once the program is ready.
func (s *stage) take(steps ...step) {
	s.ready()
	for _, step := range steps {
		step(s)
		check(s.ctx.Err())
	}
}

// close ends the program. What it leaves behind no other program sees.
func (s *stage) close() error {
	s.proxy.OnWrite(nil)
	s.proxy.Intercept(nil)
	if s.scenario.judged&P7 != 0 {
		s.weigh()
	}
	s.stopPrograms()
	err := s.stop()
	s.history.stop()
	if !s.world.stuck {
		s.playing.Wait()
	}
	return err
}

// find adds a finding, once for each lesson: a loop does the same thing a thousand times.
func (s *stage) find(findings ...finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range findings {
		if !slices.ContainsFunc(s.findings, func(other finding) bool { return other.lesson == f.lesson && other.property == f.property }) {
			s.findings = append(s.findings, f)
		}
	}
}

func (s *stage) remark(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remarks = append(s.remarks, fmt.Sprintf(format, args...))
}

// explain keeps the findings that this scenario judges and adds the requests before each.
// An exit counts wherever it is seen.
func (s *stage) explain() {
	var kept []finding
	for _, f := range s.findings {
		if f.property&s.scenario.judged == 0 && f.lesson != exits && f.lesson != restless && f.lesson != stays {
			continue
		}
		before := s.requests(s.begin, func(r request) bool {
			return !r.At.After(f.at) && !r.Watch && slices.Contains([]string{s.namespace, ""}, r.Target.Namespace)
		})
		f.lesson = f.lesson.given(before)
		if s.judge.told != nil && !s.judge.told.word(s.scenario, &f) {
			continue
		}
		for _, r := range before[max(0, len(before)-10):] {
			f.requests = append(f.requests, r.String())
		}
		kept = append(kept, f)
	}
	s.findings = kept
}

// weigh finds that the program is too large: P7.
func (s *stage) weigh() {
	const most = 1 << 30
	for _, p := range s.running() {
		if peak := p.peak(); peak > most {
			s.find(found(P7, heavy, time.Now(), "The program has held %d MiB.", peak>>20))
		} else if s.scenario.name == "thousand" {
			s.remark("it has held %d MiB", peak>>20)
		}
	}
}
