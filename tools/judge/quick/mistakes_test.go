//go:build long

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/byhand/tools/judge/internal/mistakes"
)

// In memory the judge finds each mistake by its scenario, and names its cause and the right file.
func TestMistakes(t *testing.T) {
	dir := mistakes.Prepare(t)
	binary := built(t, dir)
	for _, m := range mistakes.All {
		if m.Real {
			continue
		}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			output, short := play(t, dir, m.Scenario, "env", m.Environment(), binary, only)
			if !slices.Contains(short, m.Scenario) || !strings.Contains(output, m.Says) || !strings.Contains(output, "Done right: "+m.File) {
				t.Errorf("%s does not catch it with %q and %s:\n%s", m.Scenario, m.Says, m.File, output)
			}
		})
	}
}

// A program about another kind plays the scenarios for any kind. The output of make new passes; each of these
// mistakes in it is found.
func TestMine(t *testing.T) {
	for _, test := range []struct{ caught, file, before, after string }{
		{caught: ""},
		{"drift", "reconcile.go", "exists && equality.Semantic.DeepEqual(before, desired)", "exists"},
		{"terminating", "reconcile.go", "w.DeletionTimestamp != nil", "false"},
		{"refused-with-ids", "reconcile.go", `"an object cannot be written: the log says why"`, "err.Error()"},
		{"fault-free", "register.go", `WithKind("Widget")`, `WithKind("Widgets")`},
		{"name-taken", "reconcile.go", "if !metav1.IsControlledBy(before, w) {", "if false {"},
		{"deleted", "informer.go", "controller.EnqueueOwner(queue, kind.GroupKind()", "controller.EnqueueOwner(queue, kind.GroupVersion().WithKind(\"Other\").GroupKind()"},
	} {
		t.Run(test.caught, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			begin := exec.Command("make", "new", "DIR="+dir)
			begin.Dir = "../../.."
			if output, err := begin.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if test.file != "" {
				source, err := os.ReadFile(filepath.Join(dir, test.file))
				if err != nil || strings.Count(string(source), test.before) != 1 {
					t.Fatalf("%s does not have %s once: %v", test.file, test.before, err)
				}
				if err := os.WriteFile(filepath.Join(dir, test.file), []byte(strings.Replace(string(source), test.before, test.after, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			output, short := play(t, dir, test.caught, built(t, dir), only)
			if test.caught == "" && (len(short) > 0 || !strings.Contains(output, "\n0 of 26 scenarios fall short")) || test.caught != "" && !slices.Contains(short, test.caught) {
				t.Errorf("%v fall short, want %s:\n%s", short, test.caught, output)
			}
			for line := range strings.Lines(output) {
				if isFoos := strings.Contains(line, "Foo") || strings.Contains(line, "Deployment"); isFoos && !strings.Contains(line, "Done right: ") && !strings.Contains(line, "A real bug") {
					t.Errorf("the output about a Widget has the line: %s", line)
				}
			}
		})
	}
}
