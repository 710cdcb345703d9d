package schema

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/kit/crd"
)

// definitionOf returns the definition of a kind.
func definitionOf(t *testing.T, k kind) crd.Definition {
	t.Helper()
	return definitionIn(t, "config/crd/"+k.plural+"."+k.Group+".yaml")
}

func definitionIn(t *testing.T, file string) crd.Definition {
	t.Helper()
	d := crd.Read(t, []byte(read(t, file)))
	if len(d.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions, want one", file, len(d.Spec.Versions))
	}
	return d
}

// The name, the group, the version and the kinds are those that Go registers. A
// group spelled in two ways is two URLs, and one of them is 404.
func TestNames(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			got := definitionOf(t, k)
			if diff := cmp.Diff(
				[]string{"apiextensions.k8s.io/v1", k.plural + "." + k.Group, k.Group, k.Version, k.Kind, k.Kind + "List", k.plural},
				[]string{got.APIVersion, got.Metadata.Name, got.Spec.Group, got.Spec.Versions[0].Name, got.Spec.Names.Kind, got.Spec.Names.ListKind, got.Spec.Names.Plural},
			); diff != "" {
				t.Errorf("names (-Go +definition):\n%s", diff)
			}
			if !slices.Contains(got.Spec.Names.Categories, "byhand") {
				t.Errorf("the categories are %q: without byhand, kubectl get byhand leaves this kind out", got.Spec.Names.Categories)
			}
			if len(got.Spec.Names.ShortNames) == 0 {
				t.Error("it has no short name for kubectl get")
			}
		})
	}
}

// A kind has a status if its client can write one, and a scale if that has a selector, which only
// autoscalers read.
func TestSubresources(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			want := map[string]any{}
			if k.has("UpdateStatus") {
				want["status"] = map[string]any{}
			}
			status, hasStatus := crd.Fields(k.typ)["status"]
			if hasStatus && crd.Fields(status.Type)["selector"].Name != "" {
				want["scale"] = map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
			}
			if diff := cmp.Diff(want, definitionOf(t, k).Spec.Versions[0].Subresources, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("subresources (-client's methods +definition):\n%s", diff)
			}
			if k.has("UpdateStatus") != k.has("ApplyStatus") {
				t.Error("the client has only one of UpdateStatus and ApplyStatus")
			}
			if hasStatus != k.has("UpdateStatus") {
				t.Errorf("Go has a status: %t; the client has UpdateStatus: %t", hasStatus, !hasStatus)
			}
		})
	}
}

// Each field of a Go type is in the schema, and each field of the schema in Go.
func TestFields(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			crd.Compare(t, k.Kind, k.typ, definitionOf(t, k).Spec.Versions[0].Schema.OpenAPIV3Schema)
		})
	}
}

// Each time that a schema admits survives the way through the Go type. One that does not decode
// stops the informer of its kind, and one that comes back as something else is refused: then
// no status can be written.
func TestTimesSurvive(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			timesSurvive(t, k.Kind, definitionOf(t, k).Spec.Versions[0].Schema.OpenAPIV3Schema)
		})
	}
}

func timesSurvive(t *testing.T, path string, s crd.Schema) {
	t.Helper()
	for name, property := range s.Properties {
		timesSurvive(t, path+"."+name, property)
	}
	if s.Items != nil {
		timesSurvive(t, path+"[]", *s.Items)
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
			t.Errorf("%s: the schema admits %s, which Go sends back as %s, error %v", path, sent, back, err)
		}
	}
	if admits < 4 {
		t.Errorf("%s: the schema admits %d of the times, want the first four", path, admits)
	}
}

// An apply configuration has each field of its Go type and leaves out what was not set.
func TestApplyConfigurations(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			if !k.has("Apply") {
				t.Fatal("the client has no Apply")
			}
			apply, _ := k.client.MethodByName("Apply")
			compareApply(t, k.Kind, k.typ, apply.Type.In(2))
		})
	}
}

func compareApply(t *testing.T, path string, typ, configuration reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		path, typ = path+map[reflect.Kind]string{reflect.Slice: "[]", reflect.Map: "{}"}[typ.Kind()], typ.Elem()
	}
	for configuration.Kind() == reflect.Pointer || configuration.Kind() == reflect.Slice || configuration.Kind() == reflect.Map {
		configuration = configuration.Elem()
	}
	if !isOurs(typ) {
		return
	}
	got := crd.Fields(configuration)
	for name, field := range crd.Fields(typ) {
		its, ok := got[name]
		if !ok {
			t.Errorf("%s.%s is in Go and not in %s", path, name, configuration)
			continue
		}
		if zero := its.Type.Kind(); !its.Anonymous && (!its.Optional() || zero != reflect.Pointer && zero != reflect.Slice && zero != reflect.Map) {
			t.Errorf("%s.%s: %s sends it although nobody set it: make it a pointer, a slice or a map with omitempty", path, name, configuration)
		}
		compareApply(t, path+"."+name, field.Type, its.Type)
	}
}
