// Package readme runs a README's commands in a test that checks their documented results.
package readme

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Script has the commands below a heading. The test names each command by its beginning, in order: Run and
// Refused run it in a shell, Take returns it for the test. An unexpected or a remaining command fails the
// test.
type Script struct {
	testing.TB
	// Dir is the folder of the commands, Env their environment in addition to the test's.
	Dir string
	Env []string
	// Patience limits how long a command is repeated until it succeeds; with 0 it runs once.
	Patience time.Duration
	// Commands are the remaining commands.
	Commands []string
}

// Open reads the sh blocks of one section, without comments and without the lines that set the environment.
func Open(t testing.TB, file, heading string) *Script {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &Script{TB: t}
	within := regexp.MustCompile(`^#+ ` + regexp.QuoteMeta(heading) + `$`)
	inSection, block := false, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```") && block == "":
			block = line
		case strings.HasPrefix(line, "```"):
			block = ""
		case block == "" && strings.HasPrefix(line, "#"):
			inSection = within.MatchString(line)
		case inSection && block == "```sh" && line != "" && line[0] != '#' && !strings.HasPrefix(line, "export "):
			command, _, _ := strings.Cut(line, "  #")
			s.Commands = append(s.Commands, strings.TrimSpace(command))
		}
	}
	if len(s.Commands) == 0 {
		t.Fatalf("%s has no command below %q", file, heading)
	}
	t.Cleanup(func() {
		if len(s.Commands) > 0 && !t.Failed() {
			t.Errorf("%s has commands that this test does not know: %q", file, s.Commands)
		}
	})
	return s
}

// Take returns the next command, which the test does not run in a shell.
func (s *Script) Take(begins string) (command string) {
	s.Helper()
	if len(s.Commands) == 0 {
		s.Fatalf("the README has no command more, this test expects %q", begins)
	}
	if command = s.Commands[0]; !strings.HasPrefix(command, begins) {
		s.Fatalf("the README has %q, this test expects %q", command, begins)
	}
	s.Commands = s.Commands[1:]
	return command
}

// Run runs the next command, which must succeed and print all of prints, and returns its output.
func (s *Script) Run(begins string, prints ...string) string {
	s.Helper()
	return s.run(begins, false, prints)
}

// Refused is Run for a command that must fail.
func (s *Script) Refused(begins string, prints ...string) string {
	s.Helper()
	return s.run(begins, true, prints)
}

func (s *Script) run(begins string, refused bool, prints []string) string {
	s.Helper()
	command := s.Take(begins)
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		output, err := s.Shell(command)
		right := (err != nil) == refused
		for _, part := range prints {
			right = right && strings.Contains(output, part)
		}
		if right {
			s.Logf("%6.1f s  %s", time.Since(start).Seconds(), command)
			return output
		}
		if time.Since(start) >= s.Patience {
			s.Fatalf("%s: %v, want refused %t, and %q in\n%s", command, err, refused, prints, output)
		}
	}
}

// Shell runs a command and returns its output.
func (s *Script) Shell(command string) (string, error) {
	run := exec.Command("sh", "-c", command)
	run.Dir, run.Env = s.Dir, append(os.Environ(), s.Env...)
	output, err := run.CombinedOutput()
	return string(output), err
}
