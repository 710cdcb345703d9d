package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The skeleton and the solution of the exercise compile in a separate folder, whatever its name.
func TestPrograms(t *testing.T) {
	for name, source := range map[string]string{"skeleton": "exercise/_skeleton/main.go", "solution": "testdata/solution/main.go"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my first", "controller")
			output, err := beginWith("exercise", "DIR="+dir)
			if err != nil {
				t.Fatal(err)
			}
			if command := `CONTROLLER="'` + dir + `/mine'"`; !strings.Contains(output, command) {
				t.Errorf("no %s, which make and its shell understand, in:\n%s", command, output)
			}
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(contents(t, source)), 0o644); err != nil {
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
				for _, file := range []string{"README.md", "go.mod", "go.sum", ".gitignore"} {
					if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// An impossible request is rejected in one line, and nothing is overwritten.
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
		{"a file", file, "is a file, not a folder"},
		{"below a file", filepath.Join(file, "mine"), "is a file, not a folder"},
		{"the repository", ".", "is inside this repository"},
		{"inside", "chapters/compare/mine", "is inside this repository"},
		{"deep inside", "new/folders/mine", "is inside this repository"},
		{"inside, absolute", filepath.Join(inside, "mine"), "is inside this repository"},
		{"inside, through a link", filepath.Join(link, "mine"), "is inside this repository"},
		{"no permission", "/proc/mine", "you may not write to /proc/mine"},
		{"like an option", "-p", "is inside this repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := beginWith("exercise", "DIR="+test.dir); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with: %s", err, test.says)
			}
		})
	}
	if got := contents(t, file); got != "mine" {
		t.Errorf("%s is overwritten: %s", file, got)
	}
	for _, made := range []string{"new", "-p", "chapters/compare/mine"} {
		if _, err := os.Stat(filepath.Join(repository, made)); err == nil {
			t.Errorf("%s was made in the repository", made)
		}
	}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
