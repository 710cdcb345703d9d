//go:build unix

package subprocess

import (
	"os/exec"
	"syscall"
)

// send sends a signal to a process, or to its process group if it has a separate one.
func send(cmd *exec.Cmd, signal syscall.Signal) error {
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		return syscall.Kill(-cmd.Process.Pid, signal)
	}
	return cmd.Process.Signal(signal)
}
