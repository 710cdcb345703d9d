package chaptertest

import (
	"os/exec"

	"example.com/byhand/internal/run/subprocess"
)

// Program is the chapter's running program.
type Program = subprocess.Program

// Start runs the chapter's program. It is killed when the test ends, if it still runs.
func (c *Cluster) Start(args ...string) *Program {
	c.Helper()
	return subprocess.Run(c.T, exec.Command(binary, args...), Deadline)
}

// Binary returns the path of the chapter's program, for README commands that run it.
func Binary() string { return binary }
