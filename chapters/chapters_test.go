// Package chapters_test holds what all chapters have in common.
package chapters_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "example.com/byhand"

// names returns the folders that hold a chapter.
func names(t *testing.T) (names []string) {
	t.Helper()
	programs, err := filepath.Glob("*/main.go")
	if err != nil || len(programs) == 0 {
		t.Fatalf("no chapters: %v", err)
	}
	for _, program := range programs {
		names = append(names, filepath.Dir(program))
	}
	return names
}

// Imports run one way: a chapter imports the core, the core no chapter, and a chapter no
// other one. What several chapters need is a package beside them without a main.go.
func TestImports(t *testing.T) {
	chapters := names(t)
	// chapterOf returns the chapter that a package belongs to, or "".
	chapterOf := func(importPath string) string {
		rest, ok := strings.CutPrefix(importPath, module+"/chapters/")
		name, _, _ := strings.Cut(rest, "/")
		if !ok || !slices.Contains(chapters, name) {
			return ""
		}
		return name
	}
	list := exec.Command("go", "list", "-tags", "integration,bare,long", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var pkg struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		beside := strings.HasPrefix(pkg.ImportPath, module+"/chapters")
		for _, imported := range slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports) {
			if of := chapterOf(imported); of != "" && of != chapterOf(pkg.ImportPath) {
				t.Errorf("%s imports %s: nothing may import a chapter", pkg.ImportPath, imported)
			}
			if strings.HasPrefix(imported, module+"/chapters/") && !beside {
				t.Errorf("%s imports %s: the core must not know the chapters", pkg.ImportPath, imported)
			}
		}
	}
}

// Each chapter has the same files and the same parts in its README, and both lists name it.
func TestFrame(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	overview, readme := read("README.md"), read("../README.md")
	headings := regexp.MustCompile(`(?m)^## (.+)$`)
	for _, name := range names(t) {
		if !strings.Contains(overview, "("+name+"/README.md)") {
			t.Errorf("chapters/README.md has no link to %s/README.md", name)
		}
		if !strings.Contains(readme, "(chapters/"+name+"/README.md)") {
			t.Errorf("README.md has no link to chapters/%s/README.md", name)
		}
		if doc := read(path.Join(name, "doc.go")); !strings.HasPrefix(doc, "// Command "+name+" ") {
			t.Errorf("%s/doc.go does not begin with %q", name, "// Command "+name)
		}
		text := read(path.Join(name, "README.md"))
		if !strings.HasPrefix(text, "# "+name+": ") {
			t.Errorf("%s/README.md does not begin with %q", name, "# "+name+": ")
		}
		var parts []string
		for _, match := range headings.FindAllStringSubmatch(text, -1) {
			parts = append(parts, match[1])
		}
		if want := []string{"What it shows", "Try it", "The code, in reading order", "With kubebuilder", "What goes wrong in examples that people copy", "What is left out"}; !slices.Equal(parts, want) {
			t.Errorf("%s/README.md has the parts\n%q, want\n%q", name, parts, want)
		}
	}
}
