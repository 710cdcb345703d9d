package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests"
	"example.com/byhand/internal/tests/samples"
	"example.com/byhand/kit/check"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
)

const root = "../../../"

// lists are the files that name each kind. If a name is missing, neither the compiler nor another test fails.
var lists = []string{"config/crd/Kustomization", "internal/observe/kinds/kinds.go", "main.go"}

// roles are the verbs that each role must allow for each kind.
var roles = map[string][]string{
	"config/rbac/role.yaml":        {"list", "watch"},
	"config/rbac/editor_role.yaml": {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	"config/rbac/viewer_role.yaml": {"get", "list", "watch"},
}

func forEachKind(t *testing.T, test func(t *testing.T, k samples.Kind)) {
	for _, k := range samples.All {
		t.Run(k.Kind, func(t *testing.T) { test(t, k) })
	}
}

func crdFile(k samples.Kind) string { return root + "config/crd/" + k.Plural + "." + k.Group + ".yaml" }

func definition(t *testing.T, k samples.Kind) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return crd.Read(t, []byte(read(t, crdFile(k))))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func client(k samples.Kind) reflect.Type { return reflect.TypeOf(k.Client(clientset.New(nil), "")) }

// The CRD, the registered names, the copies and the sample match the Go types of each kind (package check).
func TestKinds(t *testing.T) {
	if files, err := filepath.Glob(root + "config/crd/*.yaml"); err != nil || len(files) != len(samples.All) {
		t.Errorf("internal/tests/samples/samples.go has %d kinds, config/crd has %v (%v)", len(samples.All), files, err)
	}
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		parts := check.Kind{Scheme: clientset.Scheme, Owner: k.GroupVersionKind, Plural: k.Plural,
			CRD: crdFile(k), Sample: root + "config/samples/" + strings.ToLower(k.Kind) + ".yaml"}
		parts.Test(t)
		names := definition(t, k).Spec.Names
		if !slices.Contains(names.Categories, "byhand") || len(names.ShortNames) == 0 {
			t.Errorf("categories %q, short names %q: want byhand for kubectl get byhand, and a short name", names.Categories, names.ShortNames)
		}
	})
}

// The API server in memory serves each kind as the CRD defines it, with or without the schema.
func TestResources(t *testing.T) {
	served := tests.Resources()
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		want, err := crd.Resource([]byte(read(t, crdFile(k))))
		if err != nil {
			t.Fatal(err)
		}
		want.Schema = nil
		if !slices.ContainsFunc(served, func(r testkit.Resource) bool { return reflect.DeepEqual(r, want) }) {
			t.Errorf("internal/tests/apiserver.go has no %+v", want)
		}
	})
}

func TestKindsAreListed(t *testing.T) {
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		for _, file := range lists {
			if text := strings.ToLower(read(t, root+file)); !strings.Contains(text, k.Plural) && !strings.Contains(text, `"`+strings.ToLower(k.Kind)+`"`) {
				t.Errorf("%s does not name %s", file, k.Plural)
			}
		}
		for file, verbs := range roles {
			var role rbacv1.ClusterRole
			if err := yaml.Unmarshal([]byte(read(t, root+file)), &role); err != nil {
				t.Fatal(err)
			}
			for _, verb := range verbs {
				if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
					return slices.Contains(rule.APIGroups, k.Group) && slices.Contains(rule.Resources, k.Plural) && slices.Contains(rule.Verbs, verb)
				}) {
					t.Errorf("%s does not allow %s of %s", file, verb, k.Plural)
				}
			}
		}
	})
}

// A kind has the scale subresource if its status has a selector, which only autoscalers read.
func TestSubresources(t *testing.T) {
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		var want *apiextensionsv1.CustomResourceSubresourceScale
		status, hasStatus := crd.Fields(reflect.TypeOf(k.Object).Elem())["status"]
		if hasStatus && crd.Fields(status.Type)["selector"].Name != "" {
			want = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: new(".status.selector")}
		}
		var got *apiextensionsv1.CustomResourceSubresourceScale
		if subresources := definition(t, k).Spec.Versions[0].Subresources; subresources != nil {
			got = subresources.Scale
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("subresource scale (-want +got):\n%s", diff)
		}
		for _, method := range []string{"UpdateStatus", "ApplyStatus"} {
			if _, has := client(k).MethodByName(method); has != hasStatus {
				t.Errorf("Go has a status: %t; the client has %s: %t", hasStatus, method, has)
			}
		}
	})
}

// Each date and time that a schema admits still matches it after a round trip through the Go type. Otherwise the
// kind's informer would stop, or no status could be written.
func TestTimesSurvive(t *testing.T) {
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		timesSurvive(t, k.Kind, definition(t, k).Spec.Versions[0].Schema.OpenAPIV3Schema)
	})
}

func timesSurvive(t *testing.T, path string, s *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, property := range s.Properties {
		timesSurvive(t, path+"."+name, &property)
	}
	if s.Items != nil {
		timesSurvive(t, path+"[]", s.Items.Schema)
	}
	if s.Format != "date-time" {
		return
	}
	pattern := regexp.MustCompile(s.Pattern)
	admits := 0
	for _, sent := range []string{
		"2026-01-01T00:30:00Z", "1900-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-01-01T00:30:00.5+00:00",
		"2026-01-01t00:30:00z", "2026-01-01T00:30:00+99:99", "0001-01-01T00:00:00Z",
		"0001-01-01T01:00:00+01:00", "1900-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
	} {
		if !pattern.MatchString(sent) {
			continue
		}
		admits++
		var through metav1.Time
		err := json.Unmarshal([]byte(strconv.Quote(sent)), &through)
		if back, _ := json.Marshal(through); err != nil || !pattern.MatchString(strings.Trim(string(back), `"`)) {
			t.Errorf("%s: the schema admits %s, which Go encodes as %s, error %v", path, sent, back, err)
		}
	}
	if admits < 4 {
		t.Errorf("%s: the schema admits %d of the times, want the first four", path, admits)
	}
}

// An apply configuration has each field of its Go type, and omits fields that are not set.
func TestApplyConfigurations(t *testing.T) {
	forEachKind(t, func(t *testing.T, k samples.Kind) {
		apply, exists := client(k).MethodByName("Apply")
		if !exists {
			t.Fatal("the client has no Apply")
		}
		compareApply(t, k.Kind, reflect.TypeOf(k.Object).Elem(), apply.Type.In(2))
	})
}

func compareApply(t *testing.T, path string, typ, configuration reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		path, typ = path+map[reflect.Kind]string{reflect.Slice: "[]", reflect.Map: "{}"}[typ.Kind()], typ.Elem()
	}
	for configuration.Kind() == reflect.Pointer || configuration.Kind() == reflect.Slice || configuration.Kind() == reflect.Map {
		configuration = configuration.Elem()
	}
	if !strings.HasPrefix(typ.PkgPath(), "example.com/byhand/api/") {
		return
	}
	got := crd.Fields(configuration)
	for name, field := range crd.Fields(typ) {
		its, ok := got[name]
		if !ok {
			t.Errorf("%s.%s is not in %s", path, name, configuration)
			continue
		}
		if zero := its.Type.Kind(); !its.Anonymous && (!its.Optional() || zero != reflect.Pointer && zero != reflect.Slice && zero != reflect.Map) {
			t.Errorf("%s.%s: %s always sends it: make it a pointer, a slice or a map with omitempty", path, name, configuration)
		}
		compareApply(t, path+"."+name, field.Type, its.Type)
	}
}
