// Package check tests a hand-written kind. A generator would write the CustomResourceDefinition, the copies
// and the role from the Go types; by hand, a test has to keep them in step.
//
//	var parts = check.Kind{Scheme: scheme, Owner: kind, Plural: "widgets", CRD: "config/crd.yaml", Sample: "config/sample.yaml"}
//
//	func TestKind(t *testing.T) { parts.Test(t) }
//
// Kind.Run runs the whole program with an API server in memory; Kind.Reconcile runs only a reconcile. Both
// are skipped if Test has failed or the program does not start: their failures would follow from that.
//
// # Guarantees
//
// If Test passes, then
//
//   - the scheme has the group, version, kind and list of the definition, and the types for a watch;
//     owner references name that kind; all names are spelled as the API server requires;
//   - each field of the Go types is in the schema with the type that it has in JSON, described and
//     required if Go always sends it, and each field of the schema is in Go (package crd);
//   - a type with a status has the subresource;
//   - an API server stores each field of the sample, and rejects none of them;
//   - each copy equals its original, shares no memory with it, and keeps nil and empty apart
//     (package deepcopy).
//
// If Role passes, the role allows each request that was sent, and nothing that no request needs.
//
// If Reconcile passes, a reconcile does not repeat a write that a cache does not show yet, modifies no
// object of a cache, and finishes: no error, and no requeue.
//
// It does not detect a rule or a pattern that rejects every value, defaults of built-in kinds, which only a
// real API server sets, or a permission for a request that no test sends.
package check

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"example.com/byhand/kit/builtin"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/deepcopy"
	"example.com/byhand/kit/testkit"
)

// Kind describes the parts of a kind.
type Kind struct {
	// Scheme has the Go types of the kind, and of its list.
	Scheme *runtime.Scheme
	// Owner is the kind that owner references name, zero if objects of the kind own nothing.
	Owner schema.GroupVersionKind
	// Plural is the resource name that the client uses.
	Plural string
	// ClusterScoped is true if client and tests use no namespace.
	ClusterScoped bool
	// CRD is the file of the CustomResourceDefinition, Sample the file of an object, in YAML.
	CRD, Sample string

	// failed is true if Test has failed or the program does not start: later tests are skipped.
	failed bool
}

type named struct {
	*testing.T
	file string
}

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.T.Errorf(n.file+": "+format, args...)
}

func (n named) Fatal(args ...any) {
	n.Helper()
	n.T.Fatal(n.file + ": " + fmt.Sprint(args...))
}

// Test tests the kind part by part. The first wrong part ends it. Each message names its file.
func (k *Kind) Test(t *testing.T) {
	defer func() { k.failed = t.Failed() }()
	definition := crd.Read(named{t, k.CRD}, read(t, k.CRD))
	if len(definition.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions: this test knows kinds with one", k.CRD, len(definition.Spec.Versions))
	}
	version, names := definition.Spec.Versions[0], definition.Spec.Names
	kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: names.Kind}
	_ = t.Run("names", func(t *testing.T) { k.names(named{t, k.CRD}, definition, kind) }) &&
		t.Run("deepcopy", func(t *testing.T) { k.copies(t) }) &&
		t.Run("schema", func(t *testing.T) {
			typ := k.Scheme.AllKnownTypes()[kind]
			crd.Compare(named{t, k.CRD}, kind.Kind, typ, version.Schema.OpenAPIV3Schema)
			subresource := version.Subresources != nil && version.Subresources.Status != nil
			if _, field := crd.Fields(typ)["status"]; field != subresource {
				t.Errorf("%s: Go has a status: %t; subresources has `status: {}`: %t. Without it UpdateStatus gets 404", k.CRD, field, subresource)
			}
		}) &&
		t.Run("sample", func(t *testing.T) { k.sample(named{t, k.Sample}, kind) })
}

// copies tests the copies, until one of its tests fails.
func (k *Kind) copies(t *testing.T) {
	for _, test := range []func(*testing.T, *runtime.Scheme){deepcopy.EqualsOriginal, deepcopy.SharesNoMemory, deepcopy.KeepsNilAndEmpty, deepcopy.OfNil, deepcopy.RoundTrip} {
		if test(t, k.Scheme); t.Failed() {
			return
		}
	}
}

// Resource returns the kind for testkit.NewAPIServer.
func (k *Kind) Resource(t *testing.T) testkit.Resource {
	t.Helper()
	resource, err := crd.Resource(read(t, k.CRD))
	if err != nil {
		t.Fatalf("%s: %v", k.CRD, err)
	}
	return resource
}

// server returns an API server that serves the kind, all built-in kinds and more.
func (k *Kind) server(t *testing.T, more []testkit.Resource) *testkit.APIServer {
	t.Helper()
	return testkit.NewAPIServer(slices.Concat([]testkit.Resource{k.Resource(t)}, more, builtin.Resources())...)
}

// Object returns the sample.
func (k *Kind) Object(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	converted, err := yaml.YAMLToJSON(read(t, k.Sample))
	if err == nil {
		err = object.UnmarshalJSON(converted)
	}
	if err != nil {
		t.Fatalf("%s: %v", k.Sample, err)
	}
	return object
}

func (k *Kind) path(t *testing.T) string {
	t.Helper()
	resource := k.Resource(t)
	return resource.Path("default", k.Object(t).GetName())
}

func (k *Kind) names(t named, d *apiextensionsv1.CustomResourceDefinition, kind schema.GroupVersionKind) {
	names := d.Spec.Names
	for what, pair := range map[string][2]string{
		"metadata.name":       {d.Name, names.Plural + "." + kind.Group},
		"spec.names.listKind": {names.ListKind, names.Kind + "List"},
		"spec.names.singular": {names.Singular, strings.ToLower(names.Kind)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, want %q", what, pair[0], pair[1])
		}
	}
	wrong := slices.Concat(validation.IsDNS1035Label(names.Plural), validation.IsDNS1035Label(strings.ToLower(names.Kind)), validation.IsDNS1123Subdomain(kind.Group))
	if !strings.Contains(kind.Group, ".") {
		wrong = append(wrong, "a group is a domain, such as desk.example.com")
	}
	for _, why := range wrong {
		t.Errorf("plural %q, kind %q, group %q: %s", names.Plural, names.Kind, kind.Group, why)
	}
	if k.Owner != kind && !k.Owner.Empty() {
		t.T.Errorf("register.go: owner references are to %v, and %s defines %v: the garbage collector finds no owner of another kind, and deletes nothing after it", k.Owner, k.CRD, kind)
	}
	if names.Plural != k.Plural {
		t.Errorf("spec.names.plural is %q, and register.go has %q: the plural is part of the URL", names.Plural, k.Plural)
	}
	if d.Spec.Scope != apiextensionsv1.NamespaceScoped && d.Spec.Scope != apiextensionsv1.ClusterScoped {
		t.Errorf("spec.scope is %q, want Namespaced or Cluster", d.Spec.Scope)
	} else if isCluster := d.Spec.Scope == "Cluster"; isCluster != k.ClusterScoped {
		t.Errorf("spec.scope is %q, and the test says ClusterScoped: %t: are the objects in a namespace?", d.Spec.Scope, k.ClusterScoped)
	}
	for _, name := range []string{names.Kind, names.Kind + "List", "WatchEvent"} {
		if !k.Scheme.Recognizes(kind.GroupVersion().WithKind(name)) {
			t.Errorf("it defines %s, and Go registers no %s in %s: register.go must name the types, call metav1.AddToGroupVersion and spell group, version and kind as here",
				kind.Kind, name, kind.GroupVersion())
		}
	}
}

func (k *Kind) sample(t named, kind schema.GroupVersionKind) {
	object, served := k.Object(t.T), k.Resource(t.T).Schema
	if got := object.GroupVersionKind(); got != kind {
		t.Errorf("it is a %s of %s, want a %s of %s", got.Kind, got.GroupVersion(), kind.Kind, kind.GroupVersion())
	}
	unknown, err := served.Prune(object.Object)
	if err != nil {
		t.Errorf("the API server cannot decode it: %v", err)
	}
	for _, path := range unknown {
		t.Errorf("the schema lacks %s, which the API server would drop", path)
	}
	served.Default(object.Object)
	for _, wrong := range served.Validate(object.Object, nil) {
		t.Errorf("the API server rejects it: %v", wrong)
	}
}

type permission struct{ verb, group, resource string }

// Role tests that the rules of a file, a Role or a ClusterRole in YAML, allow each request, and grant only
// needed permissions. unused are permissions that no request shows, such as "update widgets/finalizers". Namespaces of
// requests and names in rules are ignored.
func Role(t *testing.T, file string, requests []testkit.Request, unused ...string) {
	t.Helper()
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(read(t, file), &role); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	needed, granted := map[permission]bool{}, map[permission]bool{}
	for _, r := range requests {
		if r.Target != (testkit.Target{}) {
			needs := permission{r.Verb(), r.Target.Group, path.Join(r.Target.Resource, r.Target.Subresource)}
			needed[needs] = true
			if needs.verb == "watch" { // Without streaming lists the informer sends a LIST.
				needed[permission{"list", needs.group, needs.resource}] = true
			}
		}
	}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted[permission{verb, group, resource}] = true
				}
			}
		}
	}
	for r := range needed {
		if !granted[r] {
			t.Errorf("%s does not allow: apiGroups: [%q], resources: [%s], verbs: [%s]", file, r.group, r.resource, r.verb)
		}
	}
	for r := range granted {
		if !needed[r] && !slices.Contains(unused, r.verb+" "+r.resource) {
			t.Errorf("%s allows to %s %s of %q, which no request of the tests needs: take it away, or send it in a test", file, r.verb, r.resource, r.group)
		}
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
