package stage

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/config"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/builtin"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// Contract is a program in memory. It returns when ctx is done.
type Contract func(ctx context.Context, config *rest.Config) error

const (
	// latency is how long a request takes. It also lets time pass for a program that sends requests without a
	// pause.
	latency = 2 * time.Millisecond
	// mostRequests is more than any scenario needs.
	mostRequests = 5000
)

// foos is the resource of Foos. Its schema is compiled once for all scenarios.
var foos = sync.OnceValue(func() testkit.Resource {
	return Must(crd.Resource(Must(config.CRDs.ReadFile("crd/foos.samplecontroller.k8s.io.yaml"))))
})

// openInMemory starts an API server in memory.
func (s *Stage) openInMemory() {
	more := append([]testkit.Resource{foos()}, builtin.Resources()...)
	if t := s.Judge.Told; t != nil {
		more = append(more, t.Kind.Resource)
	}
	s.Api = tests.NewAPIServer(more...)
	s.Api.AddNamespace(s.Namespace)
	s.Api.AddNamespace(s.leases())
	s.Proxy, s.stop = &s.Api.Faults, s.stopInMemory
	s.Proxy.Kill = s.killAndStartAgain
	past := &rest.Config{Host: "http://api.test", Transport: testkit.Transport{Handler: s.Proxy.Next}, QPS: -1}
	s.Kube, s.Dynamic = kubernetes.NewForConfigOrDie(past), dynamic.NewForConfigOrDie(past)
	s.confine(s.Proxy.Next)
	if s.Judge.Told != nil {
		s.openScript()
	} else {
		s.History = Must(s.follow(s.Ctx, s.Namespace))
	}
	s.Playing.Go(func() { _ = Try(s.collectGarbage) })
}

// collectGarbage plays the garbage collector.
func (s *Stage) collectGarbage() {
	for s.Ctx.Err() == nil && !s.ending.Load() {
		// Without a pause, because a program that recreates deleted objects could keep it from ending.
		for due := s.Api.Garbage(); len(due) > 0; due = s.Api.Garbage() {
			due[0].Do()
		}
		s.Pause(20 * time.Millisecond)
	}
}

// inMemory is one run of a program in memory.
type inMemory struct {
	stage   *Stage
	started time.Time
	// alive is done when the program was killed: its requests then fail.
	alive     context.Context
	kill, end context.CancelFunc
	done      chan struct{}
	result    string
}

func (s *Stage) newProcess() (process, error) {
	if s.Judge.Contract == nil {
		return s.Judge.Command.start(s.through)
	}
	p := &inMemory{stage: s, started: time.Now(), done: make(chan struct{})}
	var ctx context.Context
	p.alive, p.kill = context.WithCancel(context.WithoutCancel(s.Ctx))
	ctx, p.end = context.WithCancel(p.alive)
	s.runs = append(s.runs, p)
	go func() {
		defer close(p.done)
		err := s.Judge.Contract(ctx, &rest.Config{Host: "http://api.test", Transport: testkit.Transport{Handler: p}})
		p.result = fmt.Sprintf("run returned after %s: %v", time.Since(p.started).Round(time.Millisecond), err)
	}()
	return p, nil
}

// ServeHTTP forwards a request while the program is alive and within its limit of requests.
func (p *inMemory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(latency)
	if s := p.stage; s.sent.Add(1) == mostRequests {
		s.Find(verdict.Found(verdict.P7, verdict.Restless, time.Now(), "The program sent %d requests in %s, and was stopped.", mostRequests, time.Since(s.Begin).Round(time.Millisecond)))
		s.exits.Store(mostExits)
		p.Kill()
	}
	if p.alive.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.alive, cancel)()
	p.stage.Proxy.ServeHTTP(w, r.WithContext(ctx))
}

func (p *inMemory) Done() <-chan struct{} { return p.done }

func (p *inMemory) began() time.Time { return p.started }

func (p *inMemory) peak() uint64 { return 0 }

func (p *inMemory) Words(int) string { return "\t(its output is not kept in memory)" }

func (p *inMemory) Kill() { p.kill() }

func (p *inMemory) Ended() string {
	select {
	case <-p.done:
		return p.result
	default:
		return ""
	}
}

func (p *inMemory) Stop(patience time.Duration) (remark string) {
	p.end()
	select {
	case <-p.done:
	case <-time.After(patience):
		remark = fmt.Sprintf("keeps running for %s after its context is done", patience)
	}
	p.kill()
	return remark
}

// stopInMemory waits until each run of the program has returned. Otherwise the next scenario's virtual time
// could not pass.
func (s *Stage) stopInMemory() error {
	for _, p := range s.runs {
		p.kill()
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			s.Find(verdict.Found(verdict.P7, verdict.Stays, time.Now(), "run has not returned a minute after its context was done."))
			s.World.Stuck = true
			return nil
		}
	}
	return nil
}
