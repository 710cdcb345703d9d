package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the names of a controller's kind.
type names struct{ kind, plural, group, version, module string }

// readNames returns the names that get returns, or their defaults, which are the template's. It returns an error
// unless each is spelled as Kubernetes and Go need it.
func readNames(get func(string) string) (names, error) {
	n := names{kind: "Widget", group: "mine.example.com", version: "v1alpha1", module: "example.com/mine"}
	variables := []struct {
		name           string
		value          *string
		pattern, right string
	}{
		{"KIND", &n.kind, `[A-Z][A-Za-z0-9]{0,62}`, "Ticket: letters and digits, first a capital letter"},
		{"PLURAL", &n.plural, `[a-z][a-z0-9]{0,62}`, "tickets: small letters and digits"},
		{"GROUP", &n.group, `[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)+`, "desk.example.com: a domain of yours, in small letters"},
		{"VERSION", &n.version, `v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?`, "v1, v1beta1 or v1alpha1"},
		{"MODULE", &n.module, `[A-Za-z0-9._~/-]+`, "example.com/desk"},
	}
	for _, v := range variables {
		if given := get(v.name); given != "" {
			*v.value = given
		}
		if v.name == "PLURAL" && n.plural == "" {
			n.plural = pluralOf(strings.ToLower(n.kind))
		}
		if !regexp.MustCompile(`^(` + v.pattern + `)$`).MatchString(*v.value) {
			return n, fmt.Errorf("%s=%s: it must be like %s", v.name, *v.value, v.right)
		}
	}
	if strings.HasSuffix(n.group, ".k8s.io") || strings.HasSuffix(n.group, ".kubernetes.io") {
		return n, fmt.Errorf("GROUP=%s is reserved for Kubernetes: use a domain of yours, such as desk.example.com", n.group)
	}
	if n.module == byhand || strings.HasPrefix(n.module, byhand+"/") {
		return n, fmt.Errorf("MODULE=%s is this repository's: use another path, such as example.com/desk", n.module)
	}
	return n, nil
}

// pluralOf returns the regular English plural. PLURAL is for the others.
func pluralOf(word string) string {
	switch {
	case regexp.MustCompile(`[^aeiou]y$`).MatchString(word):
		return strings.TrimSuffix(word, "y") + "ies"
	case regexp.MustCompile(`(s|x|ch|sh)$`).MatchString(word):
		return word + "es"
	}
	return word + "s"
}

// apply gives the template's files these names. It returns an error if one of them already has a different
// meaning there.
func (n names) apply(files folder) error {
	lower := strings.ToLower(n.kind)
	many := strings.ToUpper(n.plural[:1]) + n.plural[1:] // in sentences
	if ending, isRegular := strings.CutPrefix(n.plural, lower); isRegular {
		many = n.kind + ending
	}
	// It replaces from left to right and never replaces inserted text: a new name may contain an old one.
	rename := strings.NewReplacer("Widgets", many, "Widget", n.kind, "widgets", n.plural, "widget", lower,
		"mine.example.com", n.group, "v1alpha1", n.version, "module example.com/mine\n", "module "+n.module+"\n").Replace
	if err := n.checkClashes(files, rename); err != nil {
		return err
	}
	for file, text := range files {
		renamed := []byte(rename(string(text)))
		if filepath.Ext(file) == ".go" {
			var err error
			if renamed, err = format.Source(renamed); err != nil {
				return fmt.Errorf("KIND=%s PLURAL=%s: %s is not Go with these names: %w", n.kind, n.plural, file, err)
			}
		}
		files[file] = renamed
	}
	return nil
}

// checkClashes returns an error if two different names of the Go files become one.
func (n names) checkClashes(files folder, rename func(string) string) error {
	found := map[string]bool{}
	for file, text := range files {
		if filepath.Ext(file) == ".go" {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(node ast.Node) bool { return collect(node, found) })
		}
	}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		is := rename(name)
		if taken[is] {
			return fmt.Errorf("KIND=%s PLURAL=%s: the program uses %s for something else. Choose another KIND or PLURAL", n.kind, n.plural, strings.TrimPrefix(is, "."))
		}
		taken[is] = true
	}
	return nil
}

// collect adds the names in node: identifiers, and fields with a point in front.
// Selected fields and methods are left out, because their types are somewhere else.
func collect(node ast.Node, found map[string]bool) bool {
	inspect := func(nodes ...ast.Node) bool {
		for _, node := range nodes {
			ast.Inspect(node, func(node ast.Node) bool { return collect(node, found) })
		}
		return false
	}
	switch node := node.(type) {
	case *ast.Ident:
		found[node.Name] = true
	case *ast.SelectorExpr:
		return inspect(node.X)
	case *ast.FuncDecl:
		if node.Recv != nil {
			return inspect(node.Recv, node.Type, node.Body)
		}
	case *ast.StructType:
		for _, field := range node.Fields.List {
			for _, name := range field.Names {
				found["."+name.Name] = true
			}
			inspect(field.Type)
		}
		return false
	case *ast.KeyValueExpr:
		if key, isName := node.Key.(*ast.Ident); isName {
			found["."+key.Name] = true
			return inspect(node.Value)
		}
	}
	return true
}

func importsOf(text []byte) (packages []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // The parser has checked it.
		packages = append(packages, path)
	}
	return packages
}
