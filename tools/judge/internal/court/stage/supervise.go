package stage

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/tools/judge/internal/court/verdict"
)

// A stage supervises its program like a kubelet: it records an unexpected exit and restarts the program after
// a pause.

const (
	// mostExits is the number of exits after which the judge gives up.
	mostExits = 5
	// firstPatience is how long the first request may take, because `go run` compiles. patience is for later
	// starts.
	firstPatience, patience = 2 * time.Minute, time.Minute
	// gracePeriod is the time after SIGTERM. A program that exceeds it gets lessGrace from then on.
	gracePeriod, lessGrace = 10 * time.Second, time.Second
)

// StartProgram starts one process of the command.
func (s *Stage) StartProgram() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending.Load() {
		return nil
	}
	p, err := s.newProcess()
	if err != nil {
		return err
	}
	s.programs = append(s.programs, p)
	s.Playing.Go(func() { s.supervise(p) })
	return nil
}

// supervise restarts a program that exits by itself.
func (s *Stage) supervise(p process) {
	<-p.Done()
	if s.ending.Load() || !slices.Contains(s.Running(), p) {
		return
	}
	s.exits.Add(1)
	if !s.Judge.Heard.Load() {
		return // Ready reports it.
	}
	s.Remove(p)
	if s.Tolerant.Load() {
		return
	}
	if !s.lostLease() {
		s.Find(verdict.Found(verdict.P7, verdict.Exits, time.Now(), "The program exited: %s. Its last output:\n%s", p.Ended(), p.Words(8)))
	}
	if Try(func() { s.Pause(time.Second) }) == nil {
		s.startAgain()
	}
}

func (s *Stage) startAgain() {
	if err := s.StartProgram(); err != nil {
		s.Remark("%v", err)
	}
}

// killAndStartAgain kills the program at a write, and starts a new process.
func (s *Stage) killAndStartAgain() {
	s.KillPrograms()
	s.Playing.Go(s.startAgain)
}

// KillPrograms kills all processes with SIGKILL.
func (s *Stage) KillPrograms() {
	for _, p := range s.Running() {
		s.Remove(p)
		p.Kill()
	}
	s.freeLeases()
}

// freeLeases removes the Leases of ended processes: waiting for their expiry would show
// nothing.
func (s *Stage) freeLeases() {
	if s.Api != nil {
		for _, path := range s.Api.Paths("leases") {
			s.Api.Remove(path)
		}
		return
	}
	_ = s.Kube.CoordinationV1().Leases(s.leases()).DeleteCollection(s.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// stopPrograms stops all processes with SIGTERM, and prevents restarts.
func (s *Stage) stopPrograms() {
	s.ending.Store(true)
	s.EndPrograms()
}

// EndPrograms stops all processes with SIGTERM.
func (s *Stage) EndPrograms() {
	for _, p := range s.Running() {
		s.Remove(p)
		grace := gracePeriod
		if s.Judge.lingers.Load() {
			grace = lessGrace
		}
		if remark := p.Stop(grace); remark != "" && !s.Judge.lingers.Swap(true) {
			s.Judge.Remark("the program " + remark)
		}
	}
	s.freeLeases()
}

// Ready waits for a request of the last started program.
func (s *Stage) Ready() {
	bound, known := patience, s.Judge.Heard.Load()
	if !known {
		bound = firstPatience
	}
	if s.Await(bound, func() bool {
		running := s.Running()
		heard := len(running) > 0 && s.heardSince(running[len(running)-1].began())
		if !heard && !known && len(running) > 0 && running[0].Ended() != "" {
			Check(fmt.Errorf("the command exited before it sent a request: %s. Its last output:\n%s", running[0].Ended(), running[0].Words(20)))
		}
		return heard
	}) {
		s.Judge.Heard.Store(true)
		return
	}
	switch {
	case known:
		s.Fail(verdict.Found(verdict.P1, verdict.Absent, time.Now(), "The program was restarted, and sent no request for %s.", bound))
	case s.Judge.Contract != nil:
		Check(fmt.Errorf("run sent no request with its config within %s", bound))
	}
	printed := ""
	for _, p := range s.Running() {
		printed += p.Words(20)
	}
	Check(fmt.Errorf("the proxy received no request within %s. The program must use the kubeconfig that $KUBECONFIG names; if it needs a flag, write {kubeconfig} in the command, as in --kubeconfig {kubeconfig}. Its last output:\n%s", bound, printed))
}

func (s *Stage) Running() []process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.programs)
}

// Remove makes the exit of a program expected.
func (s *Stage) Remove(p process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs = slices.DeleteFunc(s.programs, func(other process) bool { return other == p })
}
