package stage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// follow starts the history of a namespace in which nothing has happened yet.
func (s *Stage) follow(ctx context.Context, namespace string) (*verdict.History, error) {
	ctx, cancel := context.WithCancel(ctx)
	h := verdict.NewHistory()
	var running sync.WaitGroup
	h.Stop = func() { cancel(); running.Wait() }
	foos, deployments := s.Foos(namespace), s.Kube.AppsV1().Deployments(namespace)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(now any) { h.Add(now.(metav1.Object), false) },
		UpdateFunc: func(before, now any) {
			if before.(metav1.Object).GetUID() != now.(metav1.Object).GetUID() {
				h.Add(before.(metav1.Object), true) // The deletion was missed.
			}
			h.Add(now.(metav1.Object), false)
		},
		DeleteFunc: func(last any) {
			if tombstone, missed := last.(cache.DeletedFinalStateUnknown); missed {
				last = tombstone.Obj
			}
			h.Add(last.(metav1.Object), true)
		},
	}
	for _, o := range []cache.InformerOptions{
		{ObjectType: &unstructured.Unstructured{}, Handler: handler, ListerWatcher: listWatch(foos.List, foos.Watch)},
		{ObjectType: &appsv1.Deployment{}, Handler: handler, ListerWatcher: listWatch(deployments.List, deployments.Watch)},
	} {
		_, informer := cache.NewInformerWithOptions(o)
		running.Go(func() { informer.RunWithContext(ctx) })
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			h.Stop()
			return nil, context.Cause(ctx)
		}
	}
	return h, nil
}

// Stage is one run of a scenario: a namespace, its history, and a newly started program behind a separate
// proxy.
type Stage struct {
	*World
	Proxy     *testkit.Faults
	through   string             // the kubeconfig of the program
	stop      func() error       // ends the proxy
	Api       *testkit.APIServer // in memory, or nil
	Kube      kubernetes.Interface
	Dynamic   dynamic.Interface
	Ctx       context.Context
	Scenario  *Scenario
	Namespace string
	History   *verdict.History
	Begin     time.Time
	Blind     []verdict.Blindness
	runs      []*inMemory   // of the program in memory
	Lax       bool          // the API server in memory admits any Foo
	sent      atomic.Int64  // how many requests the program in memory has sent
	Alone     time.Duration // how long a good Foo takes alone
	Part      *Part         // the state of a script

	change atomic.Pointer[func(r *http.Request, object Object)] // see Mutate

	// Met is how many requests have met a fault.
	Met atomic.Int64

	mu       sync.Mutex
	programs []process
	Findings []verdict.Finding
	Remarks  []string
	exits    atomic.Int32
	// Tolerant: an exit of the program does not count.
	Tolerant, ending atomic.Bool
	Playing          sync.WaitGroup
}

// errShort ends a stage when the rest of it would show nothing more.
var errShort = errors.New("the program falls short")

// NotJudged ends a stage without a verdict on the program.
type NotJudged string

func (n NotJudged) Error() string { return string(n) }

// Perform runs the steps of a scenario in a new namespace, with a new process of the program. It returns the
// stage with its findings.
func (w *World) Perform(ctx context.Context, sc *Scenario, steps ...Step) (*Stage, error) {
	s := &Stage{World: w, Ctx: ctx, Scenario: sc, Namespace: fmt.Sprintf("judge-%s-%d", sc.Name, w.stages.Add(1)), Begin: time.Now()}
	err := Try(func() {
		s.open()
		s.Take(steps...)
		if sc.Judged&verdict.P2 != 0 && w.Judge.Foos() {
			Silent(s)
			if sc.Judged&verdict.P1 != 0 {
				s.Converge(10 * time.Second) // It must stay so.
			}
		}
	})
	if s.History == nil {
		return s, err
	}
	for end := time.Now().Add(5 * time.Second); s.History.Behind() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if closing := s.close(); err == nil {
		err = closing
	}
	if s.History.Complete() {
		s.Find(s.History.OverTime(append(s.Blind, s.Canary.Slow(s.Begin)...))...)
	} else {
		s.Remark("the judge missed some versions, so it checked none of the history")
	}
	s.Explain()
	if errors.Is(err, errShort) {
		err = nil
		if t := s.Judge.Told; t != nil && !sc.Calibrates && len(s.Findings) > 0 && s.Part.Step >= 0 {
			s.Remark("the scenario ended with step %s: fix or allow this violation to judge the later steps", t.Steps[s.Part.Step].Name)
		}
	}
	return s, err
}

// open creates the namespaces and the proxy, and starts the program.
func (s *Stage) open() {
	if s.Judge.Contract != nil {
		s.openInMemory()
	} else {
		s.openBehindProxy()
	}
	if s.History.Unplayed = s.Scenario.Unplayed; s.Bare && s.Judge.Foos() && !s.Scenario.Unplayed {
		s.Playing.Go(func() { _ = Try(s.playDeployments) })
	}
	Check(s.StartProgram())
}

func (s *Stage) openBehindProxy() {
	s.Kube, s.Dynamic = s.World.Kube, s.World.dynamic
	for _, name := range []string{s.Namespace, s.leases()} {
		Must(s.Kube.CoreV1().Namespaces().Create(s.Ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	dir := Must(os.MkdirTemp(s.Judge.Dir, ""))
	proxy := Must(testkit.NewProxy(s.Plane.Config))
	s.Proxy, s.stop = &proxy.Faults, proxy.Close
	s.Proxy.Kill = s.killAndStartAgain
	s.confine(s.Proxy.Next)
	s.through = Must(proxy.Kubeconfig(dir))
	if s.Judge.Told != nil {
		s.openScript()
		s.kubectl(dir)
	} else {
		s.History = Must(s.follow(s.Ctx, s.Namespace))
	}
}

// Take takes steps, once the program is ready.
func (s *Stage) Take(steps ...Step) {
	s.Ready()
	for _, step := range steps {
		step(s)
		Check(s.Ctx.Err())
	}
}

// close stops the program. Other programs do not see the objects that it leaves.
func (s *Stage) close() error {
	s.Proxy.OnWrite(nil)
	s.Proxy.Intercept(nil)
	if s.Scenario.Judged&verdict.P7 != 0 {
		s.weigh()
	}
	s.stopPrograms()
	err := s.stop()
	s.History.Stop()
	if !s.World.Stuck {
		s.Playing.Wait()
	}
	return err
}

// Find adds findings, one for each lesson and property: a loop repeats the same violation a thousand times.
func (s *Stage) Find(findings ...verdict.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range findings {
		if !slices.ContainsFunc(s.Findings, func(other verdict.Finding) bool { return other.Lesson == f.Lesson && other.Property == f.Property }) {
			s.Findings = append(s.Findings, f)
		}
	}
}

func (s *Stage) Remark(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Remarks = append(s.Remarks, fmt.Sprintf(format, args...))
}

// Explain keeps the findings that this scenario judges, and adds the requests before each. It also keeps an
// exit, a program that does not return, and too many requests.
func (s *Stage) Explain() {
	var kept []verdict.Finding
	for _, f := range s.Findings {
		if f.Property&s.Scenario.Judged == 0 && f.Lesson != verdict.Exits && f.Lesson != verdict.Restless && f.Lesson != verdict.Stays {
			continue
		}
		before := s.Requests(s.Begin, func(r verdict.Request) bool {
			return !r.At.After(f.At) && slices.Contains([]string{s.Namespace, ""}, r.Target.Namespace)
		})
		f.Lesson = f.Lesson.Given(f.Text, before)
		if f.Lesson == verdict.Absent && s.Scenario.Name == "events-missed" {
			f.Lesson = verdict.Missed
		}
		before = slices.DeleteFunc(before, func(r verdict.Request) bool { return r.Watch })
		if s.Judge.Told != nil && !s.Judge.Told.word(s.Scenario, &f) {
			continue
		}
		for _, r := range before[max(0, len(before)-10):] {
			f.Requests = append(f.Requests, r.String())
		}
		kept = append(kept, f)
	}
	s.Findings = kept
}

// weigh finds that the program has used more than 1 GiB: P7.
func (s *Stage) weigh() {
	const most = 1 << 30
	for _, p := range s.Running() {
		if peak := p.peak(); peak > most {
			s.Find(verdict.Found(verdict.P7, verdict.Heavy, time.Now(), "The program used %d MiB of memory.", peak>>20))
		} else if s.Scenario.Name == "thousand" {
			s.Remark("the program used %d MiB of memory", peak>>20)
		}
	}
}
