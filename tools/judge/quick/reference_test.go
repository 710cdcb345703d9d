//go:build long

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/byhand/tools/judge/reference/bugs"
)

// real are the scenarios by which only the judge on a real control plane catches a bug.
var real = []string{"thousand"}

// In memory the judge finds each bug of the reference, by each scenario that must, except those of
// real.
func TestReference(t *testing.T) {
	binary := built(t, "../reference")
	for _, bug := range bugs.All {
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			named := slices.DeleteFunc(slices.Clone(bug.CaughtBy), func(name string) bool { return slices.Contains(real, name) })
			if len(named) == 0 {
				t.Fatal("no scenario in memory is to catch it")
			}
			output, short := play(t, "../reference", binary, strings.Join(named, "|"), "-"+bug.Name)
			for _, name := range named {
				if !slices.Contains(short, name) {
					t.Errorf("%s does not catch it:\n%s", name, output)
				}
			}
		})
	}
}

// A program for another kind plays what holds for any kind: nothing is found in what make new
// begins with, and each of these mistakes in it is.
func TestMine(t *testing.T) {
	for _, test := range []struct{ caught, file, before, after string }{
		{caught: ""},
		{"image-changed", "reconcile.go", "exists && equality.Semantic.DeepEqual(before, desired)", "exists"},
		{"deleted-foreground", "reconcile.go", "w.DeletionTimestamp != nil", "false"},
		{"denied-with-ids", "reconcile.go", `"an object cannot be written: the log says why"`, "err.Error()"},
		{"deleted-background", "register.go", `WithKind("Widget")`, `WithKind("Widgets")`},
		{"name-taken", "reconcile.go", "if !metav1.IsControlledBy(before, w) {", "if false {"},
		{"deployment-deleted", "informer.go", "controller.EnqueueOwner(queue, kind.GroupKind()", "controller.EnqueueOwner(queue, kind.GroupVersion().WithKind(\"Other\").GroupKind()"},
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
			output, short := play(t, dir, built(t, dir), test.caught)
			if test.caught == "" && (len(short) > 0 || !strings.Contains(output, "\n0 of 24 scenarios fall short")) || test.caught != "" && !slices.Contains(short, test.caught) {
				t.Errorf("%v fall short, want %s:\n%s", short, test.caught, output)
			}
			for line := range strings.Lines(output) {
				if isFoos := strings.Contains(line, "Foo") || strings.Contains(line, "Deployment"); isFoos && !strings.Contains(line, "as byhand does with Foos") && !strings.Contains(line, "A real bug") {
					t.Errorf("it says of a Widget: %s", line)
				}
			}
		})
	}
}
