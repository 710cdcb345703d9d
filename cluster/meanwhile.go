package main

import (
	"io"
	"os/exec"
	"syscall"
)

// meanwhile runs a shell command until stop is called, which waits for its end, or until
// this process ends in whatever way.
func meanwhile(command string, out io.Writer) (stop func(), err error) {
	if command == "" {
		return func() {}, nil
	}
	// cat waits for the end of a pipe that nobody writes to and that the kernel closes with
	// this process. Then the shell ends its process group, which is the command's own, so
	// that a Ctrl-C comes by this way alone.
	cmd := exec.Command("sh", "-c", "{ "+command+"; } </dev/null & cat >/dev/null; kill 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not out itself, which may be a file: through a pipe, Wait returns when each process
	// of the command has ended. What follows may need its port.
	said := struct{ io.Writer }{out}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = alive.Close()
		_ = cmd.Wait() // by a signal, always
	}, nil
}
