//go:build !unix

package subprocess

import (
	"os/exec"
	"syscall"
)

func send(cmd *exec.Cmd, signal syscall.Signal) error { return cmd.Process.Signal(signal) }
