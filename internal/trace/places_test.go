package trace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each place that a step names is in the source.
func TestPlaces(t *testing.T) {
	for what, place := range places {
		if !functions(t, place.file)[place.function] {
			t.Errorf("%s: %s has no %s", what, place.file, place.function)
		}
	}
}

// The recording that comes with the page is one that this program makes: each of its
// steps stands where a step can stand.
func TestPlacesOfTheRecording(t *testing.T) {
	file, err := os.Open("../page/recording.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	steps, err := ReadRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Collect(maps.Values(places))
	for _, step := range steps {
		if !slices.Contains(known, place{step.File, step.Func}) {
			t.Errorf("step %d stands in %s %s: record it anew", step.Seq, step.File, step.Func)
		}
	}
}

// functions returns the name of each function in a file of this repository.
func functions(t *testing.T, name string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			all[nameOf(function)] = true
		}
	}
	return all
}

// nameOf is Receiver.Method or Function.
func nameOf(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	return receiver.(*ast.Ident).Name + "." + function.Name.Name
}
