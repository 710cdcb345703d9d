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

var (
	link     = regexp.MustCompile(`\]\(([\w./-]+\.(?:go|yaml))\)`)
	console  = regexp.MustCompile("\n```\n\\$ go vet ./at\n(.*)\n```\n")
	position = regexp.MustCompile(`(?m):\d+:\d+: `)
)

// TestWalk: with only the files of the previous steps, go vet fails with the message that README.md quotes.
func TestWalk(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The code, in reading order\n")
	section, _, _ = strings.Cut(section, "\n## ")
	written := []string{"doc.go"}
	for _, step := range strings.Split(section, "\n### ")[1:] {
		title, _, _ := strings.Cut(step, "\n")
		quoted := console.FindStringSubmatch(step)
		if quoted == nil {
			t.Fatalf("README.md, %s: no command with its output", title)
		}
		exists := slices.Clone(written)
		for _, match := range link.FindAllStringSubmatch(step, -1) {
			written = append(written, match[1])
			if strings.HasSuffix(match[1], "_test.go") {
				exists = append(exists, match[1])
			}
		}
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if got := vet(t, exists); got != quoted[1] {
				t.Errorf("go vet says\n%s\nREADME.md quotes\n%s", got, quoted[1])
			}
		})
	}
	t.Run("the end", func(t *testing.T) {
		t.Parallel()
		if got := vet(t, written); got != "" {
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

// vet runs go vet as if only these files of the folder existed. It returns the output's first line,
// without line numbers.
func vet(t *testing.T, exists []string) string {
	t.Helper()
	all, _ := filepath.Glob("*.go")
	definitions, _ := filepath.Glob("config/crd/*.yaml")
	// In an overlay, a file replaced by "" does not exist.
	hidden := map[string]string{}
	for _, file := range slices.Concat(all, definitions) {
		if !slices.Contains(exists, file) {
			hidden[filepath.Join("at", file)] = ""
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
	run := exec.Command("go", "vet", "-overlay", overlay, "./at")
	run.Dir = ".."
	output, err := run.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return position.ReplaceAllString(line, ": ")
		}
	}
	if err != nil {
		t.Error(err)
	}
	return ""
}
