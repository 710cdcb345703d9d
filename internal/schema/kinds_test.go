package schema

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
)

const crdFile = "config/crd/{bars}.{group}.yaml"

// places are where a kind must stand, with an expression that finds it there.
// CONTRIBUTING.md goes through them for a kind Bar.
var places = []struct{ what, file, has string }{
	{"apply configuration", "api/{group}/{version}/applyconfiguration/{bar}.go", `type {Bar}ApplyConfiguration struct`},
	{"client", "clientset/{bar}.go", `type {Bar}Interface interface`},
	{"client in the clientset", "clientset/clientset.go", `{Stable}{V1}\(\) `},
	{"fake", "clientset/fake/{bar}.go", `\.{Bar}\b`},
	{"fake in the clientset", "clientset/fake/clientset.go", `\) {Bars}\(`},
	{"row in the wire table (kinds), named {bars}", "clientset/kinds_test.go", `var kinds = .*\b{bars}\b`},
	{"row in the table of behaviour", "internal/e2e/clients_kinds_test.go", `{Stable}{V1}\(\)\.{Bars}\(`},
	{"informer", "informer/{bar}.go", `func New{Bars}\(`},
	{"row in the table of informers", "informer/constructors_test.go", `informer\.New{Bars}\b`},
	{"CustomResourceDefinition", crdFile, `kind: CustomResourceDefinition`},
	{"line in the kustomization of the CRDs", "config/crd/Kustomization", `- {bars}\.{group}\.yaml`},
	{"sample", "config/samples/{bar}.yaml", `apiVersion: {group}/{version}\nkind: {Bar}\n`},
	{"informer that runs", "main.go", `informer\.New{Bars}\(`},
	{"description for the observer", "internal/kinds/kinds.go", `WithKind\("{Bar}"\)`},
	{"check at the start that its group is served (connect.Check)", "main.go", `{stable}{version}\.SchemeGroupVersion`},
}

// roles are what each role must allow for a kind.
var roles = map[string][]string{
	"config/rbac/role.yaml":        {"list", "watch"},
	"config/rbac/editor_role.yaml": {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	"config/rbac/viewer_role.yaml": {"get", "list", "watch"},
}

// object is a type of package api that an API server can send.
var object = regexp.MustCompile(`type (\w+) struct {\n\tmetav1\.TypeMeta`)

// Each kind of package api is registered, and each registered kind stands wherever a
// kind must stand.
func TestKindsAreComplete(t *testing.T) {
	files, err := filepath.Glob("../../api/*/*/types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("types.go is in the folders %v: %v", files, err)
	}
	for _, file := range files {
		folder := strings.TrimPrefix(filepath.Dir(file), "../../")
		gv := schema.GroupVersion{Group: filepath.Base(filepath.Dir(folder)), Version: filepath.Base(folder)}
		for _, found := range object.FindAllStringSubmatch(read(t, "../../"+folder+"/types.go"), -1) {
			for _, name := range []string{found[1], strings.TrimSuffix(found[1], "List") + "List", "WatchEvent"} {
				if !clientset.Scheme.Recognizes(gv.WithKind(name)) {
					t.Errorf("%s %s is not registered: see %s/register.go (the types, and metav1.AddToGroupVersion), and AddToScheme in clientset/scheme.go", gv, name, folder)
				}
			}
		}
	}
	for _, k := range kinds() {
		for _, place := range places {
			if has := regexp.MustCompile(k.fill(place.has)); !has.MatchString(read(t, "../../"+k.fill(place.file))) {
				t.Errorf("%s has no %s: see %s", k.Kind, k.fill(place.what), k.fill(place.file))
			}
		}
		if k.client() == nil {
			t.Errorf("the clientset has no %s", k.fill("{Stable}{V1}().{Bars}"))
		}
		for file, verbs := range roles {
			if !k.granted(t, file, verbs) {
				t.Errorf("%s does not allow %s of %s", file, verbs, k.plural)
			}
		}
	}
	if t.Failed() {
		t.Log(`CONTRIBUTING.md, "Add a kind", says what stands there`)
	}
}

// read returns a file's text, "" if there is none.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
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
		"{group}", k.Group, "{version}", k.Version, "{Stable}", title(label), "{stable}", strings.ToLower(label), "{V1}", title(k.Version)).Replace(text)
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

// granted says whether a role allows all these verbs for a kind.
func (k kind) granted(t *testing.T, file string, verbs []string) bool {
	t.Helper()
	var role rbacv1.ClusterRole
	if err := yaml.Unmarshal([]byte(read(t, "../../"+file)), &role); err != nil {
		t.Fatal(err)
	}
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		if slices.Contains(rule.APIGroups, k.Group) && slices.Contains(rule.Resources, k.plural) {
			for _, verb := range rule.Verbs {
				granted[verb] = true
			}
		}
	}
	return !slices.ContainsFunc(verbs, func(verb string) bool { return !granted[verb] })
}
