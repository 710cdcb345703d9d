package schema

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport lists the other folders that the packages of a folder may import. Tests may import more.
var mayImport = map[string][]string{
	"api":            {},
	"clientset":      {"api"},
	"informer":       {"api", "clientset"},
	"controller":     {},
	"controller/foo": {"api", "clientset", "informer", "controller"},
	"config":         {},
	"kit":            core,
	"internal":       slices.Concat(core, []string{"kit", "config"}),
	"main.go":        slices.Concat(core, []string{"kit", "internal"}),
	"tools":          slices.Concat(core, []string{"kit", "config", "internal"}),
	"chapters":       slices.Concat(core, []string{"kit", "config", "internal"}),
}

var core = []string{"api", "clientset", "informer", "controller", "controller/foo"}

// folder returns the folder of mayImport to which a file or a package belongs.
func folder(path string) string {
	if strings.HasPrefix(path, "controller/foo/") || path == "controller/foo" {
		return "controller/foo"
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}

// A package imports only packages that come before it in the data flow.
func TestImports(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "bin" || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".git")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := folder(filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root))))
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			to, isOurs := strings.CutPrefix(imported, "example.com/byhand/")
			if to = folder(to); isOurs && to != from && !slices.Contains(mayImport[from], to) {
				t.Errorf("%s imports %s: packages in %s may import only %s", path, imported, from, mayImport[from])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
