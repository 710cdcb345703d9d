package court

import (
	"fmt"
	"path/filepath"
	"syscall"
)

// apiServerKilled kills the API server and starts it again on the same data. It waits until the informers of the judge
// watch again: it writes every object, and waits until they bring that.
func apiServerKilled(s *stage) {
	check(s.apiServer(syscall.SIGKILL))
	check(s.plane.Start())
	s.touch(0)
	s.needs(s.bound, func() bool { return !s.history.behind() }, late)
}

// apiServer sends a signal to the API server of this control plane.
func (w *world) apiServer(signal syscall.Signal) error {
	binary := filepath.Join(w.plane.Home, "cluster", "state", "clusters", w.plane.Name, "bin", "kube-apiserver")
	pids := processes("cmdline", binary)
	if len(pids) != 1 {
		return fmt.Errorf("the API server of the judge does not run, or %d times", len(pids))
	}
	return syscall.Kill(pids[0], signal)
}
