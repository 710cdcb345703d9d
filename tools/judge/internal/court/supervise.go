package court

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The program of a stage is supervised as a kubelet does: what ends by itself is started
// again, after a pause, and noted.

const (
	// mostExits is when the judge gives up.
	mostExits = 5
	// firstPatience is how long the first request may take: `go run` compiles.
	firstPatience, patience = 2 * time.Minute, time.Minute
	// gracePeriod is the time after SIGTERM; a program that does not end in it has less from then on.
	gracePeriod, lessGrace = 10 * time.Second, time.Second
)

// startProgram starts one process of the command.
func (s *stage) startProgram() error {
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
	s.playing.Go(func() { s.supervise(p) })
	return nil
}

// supervise starts a program again that has ended by itself.
func (s *stage) supervise(p process) {
	<-p.Done()
	if s.ending.Load() || !slices.Contains(s.running(), p) {
		return
	}
	s.exits.Add(1)
	if !s.judge.heard.Load() {
		return // ready says what there is to say.
	}
	s.remove(p)
	if s.tolerant.Load() {
		return
	}
	if !s.lostLease() {
		s.find(found(P7, exits, time.Now(), "The program ended by itself: %s. It printed at last:\n%s", p.Ended(), p.words(8)))
	}
	if try(func() { s.pause(time.Second) }) == nil {
		s.startAgain()
	}
}

func (s *stage) startAgain() {
	if err := s.startProgram(); err != nil {
		s.remark("%v", err)
	}
}

// killAndStartAgain is what happens at a write: SIGKILL, and a new process.
func (s *stage) killAndStartAgain() {
	s.killPrograms()
	s.playing.Go(s.startAgain)
}

// killPrograms ends all processes with SIGKILL.
func (s *stage) killPrograms() {
	for _, p := range s.running() {
		s.remove(p)
		p.Kill()
	}
	s.freeLeases()
}

// freeLeases takes the Leases and the other locks of processes away that have ended: to wait until they expire
// would show nothing.
func (s *stage) freeLeases() {
	if s.api != nil {
		for _, path := range s.api.Paths("leases") {
			s.api.Remove(path)
		}
		return
	}
	_ = s.kube.CoordinationV1().Leases(s.leases()).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	_ = s.kube.CoreV1().ConfigMaps(s.leases()).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// stopPrograms ends all processes with SIGTERM, for good.
func (s *stage) stopPrograms() {
	s.ending.Store(true)
	s.endPrograms()
}

// endPrograms ends all processes with SIGTERM.
func (s *stage) endPrograms() {
	for _, p := range s.running() {
		s.remove(p)
		grace := gracePeriod
		if s.judge.lingers.Load() {
			grace = lessGrace
		}
		if remark := p.Stop(grace); remark != "" && !s.judge.lingers.Swap(true) {
			s.judge.remark("the program " + remark)
		}
	}
	s.freeLeases()
}

// ready waits for a request of the program that was started last.
func (s *stage) ready() {
	bound, known := patience, s.judge.heard.Load()
	if !known {
		bound = firstPatience
	}
	if s.await(bound, func() bool {
		running := s.running()
		heard := len(running) > 0 && s.heardSince(running[len(running)-1].began())
		if !heard && !known && len(running) > 0 && running[0].Ended() != "" {
			check(fmt.Errorf("the command ended before it sent a request: %s. It printed at last:\n%s", running[0].Ended(), running[0].words(20)))
		}
		return heard
	}) {
		s.judge.heard.Store(true)
		return
	}
	switch {
	case known:
		s.fail(found(P1, absent, time.Now(), "The program was started again, and for %s no request came.", bound))
	case s.judge.contract != nil:
		check(fmt.Errorf("run has sent no request within %s with the config that it was given", bound))
	}
	printed := ""
	for _, p := range s.running() {
		printed += p.words(20)
	}
	check(fmt.Errorf("no request came through the proxy within %s. The program must use the kubeconfig that $KUBECONFIG names; if it wants a flag, write {kubeconfig} in the command, as in --kubeconfig {kubeconfig}. It printed at last:\n%s", bound, printed))
}

func (s *stage) running() []process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.programs)
}

// remove makes the end of a program an expected one.
func (s *stage) remove(p process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs = slices.DeleteFunc(s.programs, func(other process) bool { return other == p })
}
