// Package chapters_test holds what all chapters have in common.
package chapters_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
