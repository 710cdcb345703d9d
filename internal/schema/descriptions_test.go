package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"example.com/byhand/internal/testkit/crd"
)

// kubectl explain says of each field what the comment in Go says: a description is the
// comment, or its first sentences, with the name as it is on the wire.
func TestDescriptions(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			comments := readComments(t, "../../"+k.fill("api/{group}/{version}/types.go"))
			root := definitionOf(t, k).Spec.Versions[0].Schema.OpenAPIV3Schema
			// These an API server describes itself, whatever the definition says.
			for _, name := range []string{"apiVersion", "kind", "metadata"} {
				delete(root.Properties, name)
			}
			compareDescription(t, k.Kind, comments[k.Kind], root.Description)
			compareDescriptions(t, k.Kind, k.typ, root, comments)
		})
	}
}

func compareDescription(t *testing.T, path, comment, got string) {
	t.Helper()
	switch {
	case got == "":
		t.Errorf("%s has no description; the comment in Go: %q", path, comment)
	case !strings.HasPrefix(comment+" ", got+" ") || !strings.HasSuffix(got, "."):
		t.Errorf("%s: the description is not the beginning of the comment in Go:\ndescription %q\ncomment     %q", path, got, comment)
	}
}

// compareDescriptions compares those of the fields below a schema.
func compareDescriptions(t *testing.T, path string, typ reflect.Type, got crd.Schema, comments map[string]string) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if got.Items != nil {
		compareDescriptions(t, path+"[]", typ.Elem(), *got.Items, comments)
	}
	if got.AdditionalProperties != nil {
		compareDescriptions(t, path+"{}", typ.Elem(), *got.AdditionalProperties, comments)
	}
	for name, property := range got.Properties {
		field, ok := crd.Fields(typ)[name]
		if !ok {
			continue // TestFields fails
		}
		comment := comments[typ.Name()+"."+field.Name]
		if comment == "" {
			comment = comments[field.Type.Name()]
		}
		if theirs, ok := reflect.Zero(typ).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
			comment = theirs.SwaggerDoc()[name] // generated of the comments
		}
		if _, rest, ok := strings.Cut(comment, " "); ok {
			comment = name + " " + rest
		}
		compareDescription(t, path+"."+name, comment, property.Description)
		compareDescriptions(t, path+"."+name, field.Type, property, comments)
	}
}

// readComments returns the comments of a Go file on its types and their fields, by
// names such as Bar and Bar.Spec.
func readComments(t *testing.T, name string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		declaration, ok := n.(*ast.GenDecl)
		if !ok || declaration.Tok != token.TYPE {
			return true
		}
		spec := declaration.Specs[0].(*ast.TypeSpec)
		comments[spec.Name.Name] = oneLine(declaration.Doc)
		if body, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range body.Fields.List {
				for _, name := range field.Names {
					comments[spec.Name.Name+"."+name.Name] = oneLine(field.Doc)
				}
			}
		}
		return false
	})
	return comments
}

// oneLine returns a comment on one line.
func oneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}
