package trace

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// Each place that a step names is in the source.
func TestPlaces(t *testing.T) {
	for what, place := range places {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", place.file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		found := false
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && nameOf(function) == place.function {
				found = true
			}
		}
		if !found {
			t.Errorf("%s: %s has no %s", what, place.file, place.function)
		}
	}
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
