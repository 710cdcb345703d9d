package exercise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository is where `make exercise` runs.
const repository = "../.."

// newExercise runs what `make exercise DIR=dir` runs.
func newExercise(dir string) (output string, err error) {
	return call(repository, "sh", "tools/new/new.sh", "exercise", dir)
}

// What the reader begins with, and what the exercise ends with, compile in a folder of their
// own, whatever its name.
func TestPrograms(t *testing.T) {
	for name, source := range map[string]string{"skeleton": "exercise/_skeleton/main.go", "solution": "testdata/solution/main.go"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my first", "controller")
			output, err := newExercise(dir)
			if err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if command := `CONTROLLER="'` + dir + `/mine'"`; !strings.Contains(output, command) {
				t.Errorf("no %s, which make and its shell understand, in:\n%s", command, output)
			}
			if err := os.WriteFile(filepath.Join(dir, "main.go"), contents(t, source), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"vet", "build"} {
				if output, err := call(dir, "go", command); err != nil {
					t.Errorf("go %s: %v\n%s", command, err, output)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
				t.Errorf("go build does not make the program that the README starts: %v", err)
			}
			if name == "skeleton" {
				for _, file := range []string{"README.md", "go.mod", "go.sum"} {
					if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// What cannot be done is said in one line, and nothing is overwritten.
func TestRefusals(t *testing.T) {
	full, here := t.TempDir(), t.TempDir()
	file := filepath.Join(full, "README.md")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(here, "link")
	if err := os.Symlink(inside, link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, dir, says string }{
		{"no folder", "", "which folder? make exercise DIR=../mine"},
		{"not empty", full, "is not empty"},
		{"a file", file, "is a file, and no folder"},
		{"below a file", filepath.Join(file, "mine"), "is a file, and no folder"},
		{"the repository", ".", "is inside this repository"},
		{"inside", "chapters/compare/mine", "is inside this repository"},
		{"deep inside", "new/folders/mine", "is inside this repository"},
		{"inside, absolute", filepath.Join(inside, "mine"), "is inside this repository"},
		{"inside, through a link", filepath.Join(link, "mine"), "is inside this repository"},
		{"no permission", "/proc/mine", "you may not write to /proc/mine"},
		{"like an option", "-p", "is inside this repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			output, err := newExercise(test.dir)
			if err == nil {
				t.Error("it succeeds")
			}
			if !strings.Contains(output, test.says) || strings.Count(output, "\n") != 1 {
				t.Errorf("it says\n%s\nwanted one line with: %s", output, test.says)
			}
		})
	}
	if got := string(contents(t, file)); got != "mine" {
		t.Errorf("%s is overwritten: %s", file, got)
	}
	for _, made := range []string{"new", "-p", "chapters/compare/mine"} {
		if _, err := os.Stat(filepath.Join(repository, made)); err == nil {
			t.Errorf("%s was made in the repository", made)
		}
	}
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
