package scenario

import (
	"fmt"
	"path/filepath"
	"syscall"

	"example.com/byhand/tools/judge/internal/court/stage"
)

// apiServerKilled kills the API server and starts it again on the same data. Then it writes every object and
// waits until the judge's informers deliver the writes.
func apiServerKilled(s *stage.Stage) {
	stage.Check(apiServer(s.World, syscall.SIGKILL))
	stage.Check(s.Plane.Start())
	touch(s, 0)
	s.Needs(s.Bound, func() bool { return !s.History.Behind() }, stage.Late)
}

// apiServer sends a signal to the API server of this control plane.
func apiServer(w *stage.World, signal syscall.Signal) error {
	binary := filepath.Join(w.Plane.Home, "cluster", "state", "clusters", w.Plane.Name, "bin", "kube-apiserver")
	pids := stage.Processes("cmdline", binary)
	if len(pids) != 1 {
		return fmt.Errorf("want 1 kube-apiserver of the judge's cluster, found %d", len(pids))
	}
	return syscall.Kill(pids[0], signal)
}
