package court

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// apiServerKilled kills the API server and starts it again on the same data.
func apiServerKilled(s *stage) {
	check(s.apiServer(syscall.SIGKILL))
	check(s.plane.Start())
	inSight(s)
}

// inSight waits until the informers of the judge watch again: it writes every object, and
// waits until they bring that.
func inSight(s *stage) {
	s.touch(0)
	s.needs(s.bound, func() bool { return !s.history.behind() }, late)
}

// apiServer sends a signal to the API server of this control plane.
func (w *world) apiServer(signal syscall.Signal) error {
	binary := filepath.Join(w.plane.Home, "state", "clusters", w.plane.Name, "bin", "kube-apiserver")
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(content, append([]byte(binary), 0)) {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(file)), &pid); err == nil {
			return syscall.Kill(pid, signal)
		}
	}
	return errors.New("the API server of the judge does not run")
}
