package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// step is one step of the walk in README.md: which test asks, with which command and message,
// and what is written then.
type step struct {
	title, command, message string
	tests, files            []string
}

var (
	link     = regexp.MustCompile(`\]\(([\w./-]+\.(?:go|yaml))\)`)
	console  = regexp.MustCompile("(?s)```\n\\$ (.*?)\n(.*?)\n```")
	position = regexp.MustCompile(`(?m):\d+:\d+: `)
)

func readWalk(t *testing.T) (steps []step) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The code, in reading order\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, part := range strings.Split(section, "\n### ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		quoted := console.FindStringSubmatch(body)
		if quoted == nil {
			t.Fatalf("README.md, %s: no command with its output", title)
		}
		s := step{title: title, command: quoted[1], message: quoted[2]}
		for _, match := range link.FindAllStringSubmatch(body, -1) {
			if strings.HasSuffix(match[1], "_test.go") {
				s.tests = append(s.tests, match[1])
			} else {
				s.files = append(s.files, match[1])
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// TestWalk goes through README.md as a reader does, who writes one file after the other. Of
// this folder only what the steps so far have written exists, and the tests of the next step.
// Then the next step's command fails with the message that README.md quotes.
func TestWalk(t *testing.T) {
	steps := readWalk(t)
	written := []string{"doc.go"}
	for i, s := range steps {
		exists := slices.Concat(written, s.tests)
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			got, err := goWith(t, s.command, exists)
			if err == nil {
				t.Fatalf("%s succeeds before step %d", s.command, i+1)
			}
			if got != s.message {
				t.Errorf("%s says\n%s\nREADME.md quotes\n%s", s.command, got, s.message)
			}
		})
		written = slices.Concat(written, s.tests, s.files)
	}
	t.Run("the end", func(t *testing.T) {
		t.Parallel()
		if got, err := goWith(t, "go vet ./at", written); err != nil {
			t.Errorf("after the last step go vet says\n%s", got)
		}
	})
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !strings.HasSuffix(file, "_test.go") && !slices.Contains(written, file) {
			t.Errorf("no step of README.md writes %s", file)
		}
	}
}

// goWith runs a go command as if of this folder only these files existed. It returns the
// first line of the output, without line numbers.
func goWith(t *testing.T, command string, exists []string) (string, error) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	all, _ := filepath.Glob("*.go")
	definitions, _ := filepath.Glob("config/crd/*.yaml")
	// In an overlay a file that is replaced by "" does not exist.
	hidden := map[string]string{}
	for _, file := range slices.Concat(all, definitions) {
		if !slices.Contains(exists, file) {
			hidden[filepath.Join(here, file)] = ""
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": hidden})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	words := slices.Insert(strings.Fields(command), 2, "-overlay", overlay)
	run := exec.Command(words[0], words[1:]...)
	run.Dir = ".."
	output, err := run.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return position.ReplaceAllString(line, ": "), err
		}
	}
	return "", err
}
