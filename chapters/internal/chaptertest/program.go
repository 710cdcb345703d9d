package chaptertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/internal/run/subprocess"
)

// Program is the chapter's running program.
type Program = subprocess.Program

// Start runs the chapter's program. It is killed when the test ends, if it still runs.
func (c *Cluster) Start(args ...string) *Program {
	c.Helper()
	return Start(c.T, args...)
}

// Start is Cluster.Start for a test without a cluster.
func Start(t *testing.T, args ...string) *Program {
	t.Helper()
	return subprocess.Run(t, exec.Command(binary, args...), Deadline)
}

// Binary returns the path of the chapter's program, for README commands that run it.
func Binary() string { return binary }

// Mistakes starts the program with each of these arguments: it must exit with code 1, and print one
// line that begins with the program's name and contains the text.
func Mistakes(t *testing.T, says map[string][]string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(dir)
	for want, args := range says {
		p := Start(t, args...)
		if code := p.Exit(); code != 1 {
			t.Errorf("%q: exit code %d, want 1", args, code)
		}
		output := strings.TrimSpace(p.Output())
		if strings.Contains(output, "\n") || !strings.HasPrefix(output, name+": ") || !strings.Contains(output, want) {
			t.Errorf("%q: want one line that begins with %s: and contains %q, got\n%s", args, name, want, output)
		}
	}
}
