// Package mistake builds many mistakes into one program, of which the environment says which one is made.
package mistake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Variable of the environment has the name of the mistake that is made.
const Variable = "MUTANT"

// Add copies the body of a function before the original, and replaces old by new in the copy: the mistake.
// The copy runs if the environment names the mistake. texts has the changed files. For a mistake outside of
// every function, Add returns the texts of a separate program.
func Add(t testing.TB, texts map[string]string, file, old, new, name string) (alone map[string]string) {
	t.Helper()
	original, err := os.ReadFile(file)
	text, files := string(original), token.NewFileSet()
	parsed, wrong := parser.ParseFile(files, file, original, parser.SkipObjectResolution)
	if err := cmp.Or(err, wrong); err != nil {
		t.Fatal(err)
	}
	start := strings.Index(text, old)
	if start < 0 {
		t.Fatalf("%s no longer has %q", file, old)
	}
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		begin, open, end := files.Position(function.Pos()).Offset, files.Position(function.Body.Lbrace).Offset+1, files.Position(function.Body.Rbrace).Offset
		if start < open || start+len(old) > end {
			continue
		}
		back := ""
		if function.Type.Results == nil {
			back = "\nreturn"
		}
		signature, mistaken := text[begin:open], fmt.Sprintf("\nif mutantThatRuns == %q {%s%s\n}\n", name, strings.Replace(text[open:end], old, new, 1), back)
		texts[file] = strings.Replace(cmp.Or(texts[file], text), signature, signature+mistaken, 1)
		texts[filepath.Join(filepath.Dir(file), "mutant.go")] = regexp.MustCompile(`(?m)^package \w+`).FindString(text) +
			fmt.Sprintf("\n\nimport \"os\"\n\nvar mutantThatRuns = os.Getenv(%q)\n", Variable)
		return nil
	}
	return map[string]string{file: strings.Replace(text, old, new, 1)}
}

// Build builds the tests of packages with the replaced files in texts, and returns the folder of the
// programs.
func Build(t testing.TB, root string, texts map[string]string, packages ...string) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for file, text := range texts {
		replace[file] = filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		if err := os.WriteFile(replace[file], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	// Without debugging tables a program is linked faster.
	compile := exec.Command("go", append([]string{"test", "-c", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir + "/"}, packages...)...)
	compile.Dir = root
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return dir
}
