package schema

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
)

const crdFile = "config/crd/{bars}.{group}.yaml"

// places are where a kind must stand. CONTRIBUTING.md goes through them for a kind Bar.
var places = []struct {
	what, file string
	has        func(t *testing.T, k kind, text []byte) bool
}{
	{"apply configuration", "api/{group}/{version}/applyconfiguration/{bar}.go", uses("{Bar}ApplyConfiguration")},
	{"client", "clientset/{bar}.go", uses("{Bar}Interface")},
	{"client in the clientset ({Stable}{V1}().{Bars})", "clientset/clientset.go", func(_ *testing.T, k kind, _ []byte) bool { return k.client() != nil }},
	{"REST client in New or in NewForConfigAndClient", "clientset/clientset.go", isConstructed},
	{"fake", "clientset/fake/{bar}.go", uses("{Bar}")},
	{"fake in the clientset ({Bars})", "clientset/fake/clientset.go", uses("{Bars}")},
	{"row in the wire table (kinds), named {bars}", "clientset/kinds_test.go", listed},
	{"row in the table of behaviour", "internal/e2e/clients_kinds_test.go", uses("{Stable}{V1}", "{Bars}")},
	{"informer", "informer/{bar}.go", uses("New{Bars}")},
	{"row in the table of informers", "informer/constructors_test.go", uses("informer", "New{Bars}")},
	{"CustomResourceDefinition", crdFile, func(*testing.T, kind, []byte) bool { return true }},
	{"line in the kustomization of the CRDs", "config/crd/Kustomization", isResource},
	{"sample", "config/samples/{bar}.yaml", isSample},
	{"rule for the controller (list, watch)", "config/rbac/role.yaml", grants("list", "watch")},
	{"rule for editors (get, list, watch, create, update, patch, delete, deletecollection)", "config/rbac/editor_role.yaml",
		grants("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")},
	{"rule for viewers (get, list, watch)", "config/rbac/viewer_role.yaml", grants("get", "list", "watch")},
	{"informer that runs", "main.go", uses("informer", "New{Bars}")},
	{"description for the observer", "internal/kinds/kinds.go", uses("{Bar}")},
	{"check at the start that its group is served (connect.Check)", "main.go", usesVersion},
}

// Each kind of package api is registered, and each registered kind stands wherever a
// kind must stand.
func TestKindsAreComplete(t *testing.T) {
	files, err := filepath.Glob("../../api/*/*/types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("types.go is in the folders %v: %v", files, err)
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		gv := schema.GroupVersion{Group: filepath.Base(filepath.Dir(folder)), Version: filepath.Base(folder)}
		for _, name := range objects(t, file) {
			if !clientset.Scheme.Recognizes(gv.WithKind(name)) {
				t.Errorf("%s %s is not registered: add &%[2]s{} to %s/register.go, with the folder's group and version, and AddToScheme to clientset/scheme.go",
					gv, name, strings.TrimPrefix(folder, "../../"))
			}
			if object, isList := strings.CutSuffix(name, "List"); !isList && !slices.Contains(objects(t, file), object+"List") {
				t.Errorf("%s has no %[1]sList in %s", name, file)
			}
		}
	}
	for _, k := range kinds() {
		if !clientset.Scheme.Recognizes(k.GroupVersion().WithKind("WatchEvent")) {
			t.Errorf("%s has no WatchEvent, DeleteOptions, …: add metav1.AddToGroupVersion to its register.go", k.GroupVersion())
		}
		for _, place := range places {
			file := k.fill(place.file)
			text, err := os.ReadFile("../../" + file)
			switch {
			case os.IsNotExist(err):
				t.Errorf("%s has no %s: %s is missing", k.Kind, k.fill(place.what), file)
			case err != nil:
				t.Error(err)
			case !place.has(t, k, text):
				t.Errorf("%s has no %s: see %s", k.Kind, k.fill(place.what), file)
			}
		}
	}
	if t.Failed() {
		t.Log(`CONTRIBUTING.md, "Add a kind", says what stands there`)
	}
}

// kind is a kind of ours.
type kind struct {
	schema.GroupVersionKind
	plural string // as URLs have it
	typ    reflect.Type
}

// kinds returns those of ours that clientset.Scheme has with a list.
func kinds() []kind {
	var all []kind
	for gvk, typ := range clientset.Scheme.AllKnownTypes() {
		if isOurs(typ) && clientset.Scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			all = append(all, kind{gvk, plural.Resource, typ})
		}
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

func isOurs(typ reflect.Type) bool {
	return strings.HasPrefix(typ.PkgPath(), "example.com/byhand/api/")
}

// fill replaces what is in braces by what it is for this kind instead of Bar.
func (k kind) fill(text string) string {
	title := func(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
	// Of the first label what can be in a name: examples-gzh.com becomes Examples.
	label := strings.FieldsFunc(k.Group, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })[0]
	// The plural begins as the kind does, capital letters included.
	same := 0
	for same < len(k.Kind) && same < len(k.plural) && strings.EqualFold(k.Kind[same:same+1], k.plural[same:same+1]) {
		same++
	}
	return strings.NewReplacer("{bar}", strings.ToLower(k.Kind), "{Bar}", k.Kind, "{bars}", k.plural, "{Bars}", k.Kind[:same]+k.plural[same:],
		"{group}", k.Group, "{version}", k.Version, "{Stable}", title(label), "{V1}", title(k.Version)).Replace(text)
}

// client returns the interface of a kind's client, nil if there is none.
func (k kind) client() reflect.Type {
	group, ok := reflect.TypeFor[clientset.Interface]().MethodByName(k.fill("{Stable}{V1}"))
	if !ok {
		return nil
	}
	resource, ok := group.Type.Out(0).MethodByName(k.fill("{Bars}"))
	if !ok {
		return nil
	}
	return resource.Type.Out(0)
}

// has says whether a kind's client has a method.
func (k kind) has(method string) bool {
	if k.client() == nil {
		return false
	}
	_, ok := k.client().MethodByName(method)
	return ok
}

// parse parses a Go file.
func parse(t *testing.T, text any) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// objects returns the types of a file that embed TypeMeta.
func objects(t *testing.T, name string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parse(t, text), func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range body.Fields.List {
				if selector, ok := field.Type.(*ast.SelectorExpr); ok && field.Names == nil && selector.Sel.Name == "TypeMeta" {
					names = append(names, spec.Name.Name)
				}
			}
		}
		return false
	})
	return names
}

// uses says whether a Go file has the name, or with two: the second one of the first,
// as in informer.NewBars or StableV1alpha1().Bars.
func uses(names ...string) func(t *testing.T, k kind, text []byte) bool {
	return func(t *testing.T, k kind, text []byte) (found bool) {
		last := k.fill(names[len(names)-1])
		ast.Inspect(parse(t, text), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || len(names) == 1 && n.Name == last
			case *ast.SelectorExpr:
				of := n.X
				if call, ok := of.(*ast.CallExpr); ok {
					of = call.Fun
				}
				if selector, ok := of.(*ast.SelectorExpr); ok {
					of = selector.Sel
				}
				name, ok := of.(*ast.Ident)
				found = found || len(names) == 2 && n.Sel.Name == last && ok && name.Name == k.fill(names[0])
			}
			return true
		})
		return found
	}
}

// listed says whether the variable kinds of a Go file lists one that is called as the
// plural is.
func listed(t *testing.T, k kind, text []byte) (found bool) {
	ast.Inspect(parse(t, text), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "kinds" {
			return true
		}
		ast.Inspect(spec, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			found = found || ok && name.Name == k.plural
			return true
		})
		return false
	})
	return found
}

// isConstructed says whether each way to make a clientset makes a client of the kind's
// group.
func isConstructed(t *testing.T, k kind, _ []byte) bool {
	made, err := clientset.NewForConfig(&rest.Config{Host: "https://example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []clientset.Interface{made, clientset.New(nil)} {
		method := reflect.ValueOf(client).MethodByName(k.fill("{Stable}{V1}"))
		if !method.IsValid() || method.Call(nil)[0].Elem().IsNil() {
			return false
		}
	}
	return true
}

// usesVersion says whether a Go file uses the SchemeGroupVersion of a kind's package.
func usesVersion(t *testing.T, k kind, text []byte) bool {
	for _, imported := range parse(t, text).Imports {
		if imported.Path.Value == fmt.Sprintf("%q", k.typ.PkgPath()) {
			name := k.Version
			if imported.Name != nil {
				name = imported.Name.Name
			}
			return uses(name, "SchemeGroupVersion")(t, k, text)
		}
	}
	return false
}

func decode[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// isResource says whether a kustomization has the definition of a kind.
func isResource(t *testing.T, k kind, text []byte) bool {
	return slices.Contains(decode[struct{ Resources []string }](t, text).Resources, filepath.Base(k.fill(crdFile)))
}

// isSample says whether a file holds an object of a kind.
func isSample(t *testing.T, k kind, text []byte) bool {
	sample := decode[struct{ APIVersion, Kind string }](t, text)
	return schema.FromAPIVersionAndKind(sample.APIVersion, sample.Kind) == k.GroupVersionKind
}

// grants says whether a role allows all these verbs for a kind.
func grants(verbs ...string) func(t *testing.T, k kind, text []byte) bool {
	return func(t *testing.T, k kind, text []byte) bool {
		granted := map[string]bool{}
		for _, rule := range decode[rbacv1.ClusterRole](t, text).Rules {
			if slices.Contains(rule.APIGroups, k.Group) && slices.Contains(rule.Resources, k.plural) {
				for _, verb := range rule.Verbs {
					granted[verb] = true
				}
			}
		}
		return !slices.ContainsFunc(verbs, func(verb string) bool { return !granted[verb] })
	}
}
