//go:build mutants

// Package testing measures which kind of test finds which mistake: see README.md.
package testing

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const root = "../.."

// A mistake is one that people make. old stands in file, new takes its place.
type mistake struct{ name, file, old, new string }

var mistakes = []mistake{
	{"Ready while an earlier template runs", "controller/foo/status.go", " && is.UpdatedReplicas == desired", ""},
	{"an owner is known by its name", "controller/foo/blocked.go", "owner.UID == foo.UID:", "owner.Name == foo.Name:"},
	{"an object of the store is changed", "controller/foo/status.go", "desired := foo.DeepCopy()", "desired := foo"},
	{"the status is sent to the object's URL", "clientset/foo.go", `SubResource("status").`, ""},
	{"own writes are not awaited", "controller/readyourwrites.go", "err != nil || order >= 0", "err != nil || order < 2"},
	{"a DELETE on the cache's word", "controller/foo/rename.go", "live.UID != foo.UID || live.Generation != foo.Generation", "false"},
	{"an event ends a back-off", "controller/queue.go", "!time.Now().Before(end.(time.Time))", "time.Now().Before(end.(time.Time)) || true"},
	{"a tombstone is taken for an object", "controller/handlers.go", "obj = tombstone.Obj", "_ = tombstone"},
}

const decisions = "^(TestApplySpec|TestCalculateStatus|TestRefusalIsStable|TestStatusKeepsItsTime|TestValidate)$"

// levels are kinds of tests: the packages of the core that have them, and which these are.
var levels = []struct {
	name, packages string
	args           []string
}{
	{"table", "controller/foo", []string{"-test.run=" + decisions}},
	{"fakes", "controller/foo", []string{"-test.run=^TestOverFakes$"}},
	{"in memory", "controller controller/foo", []string{"-test.skip=" + decisions + "|^TestOverFakes$"}},
	{"random", "internal/tests/simulation", []string{"-test.run=^TestSequences$", "-sequences=60"}},
	{"program", ".", []string{"-test.run=^Test(Run|Sync|Rights|Flags|Leader)$"}},
	{"server", "internal/tests/e2e", []string{"-test.run=^Test(Readme|Behaviour)$"}},
}

// The table of README.md, by making each mistake and running each kind of test.
func TestLevels(t *testing.T) {
	if os.Getenv("KUBECONFIG") == "" {
		t.Fatal("it needs an API server: README.md has the command")
	}
	table := "| |"
	for _, level := range levels {
		table += " " + level.name + " |"
	}
	table += "\n|---" + strings.Repeat("|---", len(levels)) + "|\n"
	row := func(name, overlay string) (row string) {
		folder := build(t, overlay)
		row = "| " + name + " |"
		for _, level := range levels {
			row += map[bool]string{true: " found |", false: " |"}[finds(t, folder, overlay, level.packages, level.args)]
		}
		t.Log(row)
		return row + "\n"
	}
	for _, m := range mistakes {
		table += row(m.name, laidOver(t, m.file, m.made(t)))
	}
	// Last, so that the program that is left in bin has no mistake.
	if none := row("no mistake", laidOver(t, "", "")); strings.Contains(none, "found") {
		t.Error("tests fail without a mistake")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), table) {
		t.Errorf("README.md does not have (%v)\n%s", err, table)
	}
}

// What each mistake changes is still there. This takes no time, and TestLevels takes long.
func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		m.made(t)
	}
}

// made returns the text of the file with the mistake.
func (m mistake) made(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil || !strings.Contains(string(text), m.old) {
		t.Fatalf("%s no longer has %q (%v)", m.file, m.old, err)
	}
	return strings.Replace(string(text), m.old, m.new, 1)
}

// laidOver returns the file for Go's -overlay that gives a file another text while tests are built.
func laidOver(t *testing.T, file, text string) string {
	t.Helper()
	whole, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	other := filepath.Join(t.TempDir(), "other.go")
	if file != "" {
		replace[whole] = other
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(os.WriteFile(other, []byte(text), 0o600), os.WriteFile(other+".json", overlay, 0o600)); err != nil {
		t.Fatal(err)
	}
	return other + ".json"
}

// build builds the tests of each package. A mistake must compile.
func build(t *testing.T, overlay string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	args := []string{"test", "-c", "-tags=integration", "-ldflags=-s -w", "-overlay=" + overlay, "-o", folder + "/"}
	packages := map[string]bool{}
	for _, level := range levels {
		for _, name := range strings.Fields(level.packages) {
			packages["./"+name] = true
		}
	}
	command := exec.Command("go", append(args, slices.Sorted(maps.Keys(packages))...)...)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return folder
}

// finds runs tests, and reports whether one of them fails.
func finds(t *testing.T, folder, overlay, packages string, args []string) (found bool) {
	t.Helper()
	for _, name := range strings.Fields(packages) {
		start := time.Now()
		command := exec.Command(filepath.Join(folder, path.Base(path.Join("byhand", name))+".test"), append(args, "-test.timeout=5m")...)
		// A program that a test builds has the mistake, too.
		command.Dir, command.Env = filepath.Join(root, name), append(os.Environ(), "GOFLAGS=-overlay="+overlay)
		output, err := command.CombinedOutput()
		found = found || err != nil
		t.Logf("%s %s: %.1f s, %v", name, args[0], time.Since(start).Seconds(), regexp.MustCompile(`--- FAIL: \w+`).FindAllString(string(output), 3))
	}
	return found
}
