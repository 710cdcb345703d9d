package schema

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/samples"
)

// lists are the files that name each kind, by its plural or by the kind itself. That something
// is missing there neither the compiler nor another test notices.
var lists = []string{"config/crd/Kustomization", "internal/kinds/kinds.go", "main.go"}

// roles are what each role must allow for a kind.
var roles = map[string][]string{
	"config/rbac/role.yaml":        {"list", "watch"},
	"config/rbac/editor_role.yaml": {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	"config/rbac/viewer_role.yaml": {"get", "list", "watch"},
}

// Each kind that is defined is registered. Each that is registered has a client, a sample and
// rights, and is named wherever the kinds are listed.
func TestKindsAreComplete(t *testing.T) {
	files, err := filepath.Glob("../../../config/crd/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("the definitions are in %v: %v", files, err)
	}
	for _, file := range files {
		d := definitionIn(t, strings.TrimPrefix(file, "../../../"))
		gv := schema.GroupVersion{Group: d.Spec.Group, Version: d.Spec.Versions[0].Name}
		for _, name := range []string{d.Spec.Names.Kind, d.Spec.Names.ListKind, "WatchEvent"} {
			if !clientset.Scheme.Recognizes(gv.WithKind(name)) {
				t.Errorf("%s %s is not registered: see register.go beside its types (the types, and metav1.AddToGroupVersion), and AddToScheme in clientset/scheme.go", gv, name)
			}
		}
	}
	for _, k := range kinds() {
		if k.client == nil {
			t.Errorf("internal/testkit/samples/samples.go has no row of %s with its client", k.Kind)
		}
		for _, file := range lists {
			if text := strings.ToLower(read(t, file)); !strings.Contains(text, k.plural) && !strings.Contains(text, `"`+strings.ToLower(k.Kind)+`"`) {
				t.Errorf("%s names no %s", file, k.plural)
			}
		}
		sample := "config/samples/" + strings.ToLower(k.Kind) + ".yaml"
		if want := "apiVersion: " + k.GroupVersion().String() + "\nkind: " + k.Kind + "\n"; !strings.Contains(read(t, sample), want) {
			t.Errorf("%s is no sample of %s", sample, k)
		}
		for file, verbs := range roles {
			if missing := k.missing(t, file, verbs); missing != nil {
				t.Errorf("%s does not allow %s of %s", file, missing, k.plural)
			}
		}
	}
	if t.Failed() {
		t.Log(`CONTRIBUTING.md, "Add a kind", says what stands there`)
	}
}

// read returns the text of a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// kind is a kind of ours.
type kind struct {
	schema.GroupVersionKind
	plural string // as URLs have it
	typ    reflect.Type
	client reflect.Type // nil if there is none
}

// kinds returns those of ours that clientset.Scheme has with a list.
func kinds() []kind {
	var all []kind
	for gvk, typ := range clientset.Scheme.AllKnownTypes() {
		if isOurs(typ) && clientset.Scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			all = append(all, kind{gvk, plural.Resource, typ, clientOf(gvk)})
		}
	}
	slices.SortFunc(all, func(a, b kind) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

func isOurs(typ reflect.Type) bool {
	return strings.HasPrefix(typ.PkgPath(), "example.com/byhand/api/")
}

// clientOf returns the client of a kind, nil if the table of kinds has none.
func clientOf(gvk schema.GroupVersionKind) reflect.Type {
	for _, k := range samples.All {
		if k.GroupVersionKind == gvk {
			return reflect.TypeOf(k.Client(clientset.New(nil), ""))
		}
	}
	return nil
}

// has says whether a kind's client has a method.
func (k kind) has(method string) bool {
	if k.client == nil {
		return false
	}
	_, ok := k.client.MethodByName(method)
	return ok
}

// missing returns the verbs that a role does not allow for a kind.
func (k kind) missing(t *testing.T, file string, verbs []string) (missing []string) {
	t.Helper()
	var role rbacv1.ClusterRole
	if err := yaml.Unmarshal([]byte(read(t, file)), &role); err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbs {
		if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.APIGroups, k.Group) && slices.Contains(rule.Resources, k.plural) && slices.Contains(rule.Verbs, verb)
		}) {
			missing = append(missing, verb)
		}
	}
	return missing
}
