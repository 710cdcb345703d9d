package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// definition is the part of a CustomResourceDefinition that is compared.
type definition struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind, ListKind, Plural string
			Categories             []string
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Schema struct {
				OpenAPIV3Schema node `json:"openAPIV3Schema"`
			} `json:"schema"`
			Subresources map[string]any `json:"subresources"`
		} `json:"versions"`
	} `json:"spec"`
}

// node is a schema.
type node struct {
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Format      string          `json:"format"`
	Required    []string        `json:"required"`
	Properties  map[string]node `json:"properties"`
	Items       *node           `json:"items"`
	// AdditionalProperties is what a map holds.
	AdditionalProperties *node `json:"additionalProperties"`
}

// definitionOf returns the definition of a kind. TestKindsAreComplete says which kind has
// none.
func definitionOf(t *testing.T, k kind) definition {
	t.Helper()
	var d definition
	if err := yaml.Unmarshal([]byte(read(t, "../../"+k.fill(crdFile))), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions, want one", k.fill(crdFile), len(d.Spec.Versions))
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
		})
	}
}

// A kind has those subresources whose methods its client has.
func TestSubresources(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			want := map[string]any{}
			if k.has("UpdateStatus") {
				want["status"] = map[string]any{}
			}
			if k.has("UpdateScale") {
				want["scale"] = map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
			}
			if diff := cmp.Diff(want, definitionOf(t, k).Spec.Versions[0].Subresources, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("subresources (-client's methods +definition):\n%s", diff)
			}
			for method, other := range map[string]string{"UpdateStatus": "ApplyStatus", "UpdateScale": "GetScale"} {
				if k.has(method) != k.has(other) {
					t.Errorf("the client has only one of %s and %s", method, other)
				}
			}
			if _, hasStatus := wireFields(k.typ)["status"]; hasStatus != k.has("UpdateStatus") {
				t.Errorf("Go has a status: %t; the client has UpdateStatus: %t", hasStatus, !hasStatus)
			}
		})
	}
}

// Each field of a Go type is in the schema, with the kind of value that it holds,
// and each field of the schema is in Go: a client drops what its type lacks, an
// API server what the schema lacks.
func TestFields(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			compare(t, k.Kind, k.typ, definitionOf(t, k).Spec.Versions[0].Schema.OpenAPIV3Schema)
		})
	}
}

func compare(t *testing.T, path string, typ reflect.Type, got node) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if want := wireType(typ); want != got.Type+" "+got.Format {
		t.Errorf("%s: Go has %s, which is %q on the wire; the schema says %q", path, typ, want, got.Type+" "+got.Format)
		return
	}
	switch {
	case typ.Kind() == reflect.Slice && got.Items == nil:
		t.Errorf("%s: the schema does not say what the list holds: it has no items", path)
	case typ.Kind() == reflect.Slice:
		compare(t, path+"[]", typ.Elem(), *got.Items)
	case typ.Kind() == reflect.Map && got.AdditionalProperties == nil:
		t.Errorf("%s: the schema does not say what the map holds: it has no additionalProperties", path)
	case typ.Kind() == reflect.Map:
		compare(t, path+"{}", typ.Elem(), *got.AdditionalProperties)
	case got.Type == "object" && typ != reflect.TypeFor[metav1.ObjectMeta]():
		fields := wireFields(typ)
		var required []string
		for name, field := range fields {
			if property, ok := got.Properties[name]; ok {
				compare(t, path+"."+name, field.Type, property)
			} else {
				t.Errorf("%s.%s is in Go and not in the schema", path, name)
			}
			// Who creates an object knows no status, and who writes a status knows it in part.
			kind, _, _ := strings.Cut(path, ".")
			if status := kind + ".status"; path != status && path+"."+name != status && !field.optional() {
				required = append(required, name)
			}
		}
		for name := range got.Properties {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s.%s is in the schema and not in Go", path, name)
			}
		}
		slices.Sort(required)
		if slices.Sort(got.Required); !slices.Equal(required, got.Required) {
			t.Errorf("%s: the schema requires %v, and Go always sends %v: the fields without omitempty", path, got.Required, required)
		}
	}
}

// An apply configuration has each field of its Go type, leaves out what was not set,
// and has a setter for each field of its own.
func TestApplyConfigurations(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.Kind, func(t *testing.T) {
			if !k.has("Apply") {
				t.Skip("TestKindsAreComplete fails: the client has no Apply")
			}
			apply, _ := k.client().MethodByName("Apply")
			compareApply(t, k.Kind, k.typ, apply.Type.In(1))
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
	got := wireFields(configuration)
	for name, field := range wireFields(typ) {
		its, ok := got[name]
		if !ok {
			t.Errorf("%s.%s is in Go and not in %s", path, name, configuration)
			continue
		}
		if zero := its.Type.Kind(); !its.optional() || zero != reflect.Pointer && zero != reflect.Slice && zero != reflect.Map {
			t.Errorf("%s.%s: %s sends it although nobody set it: make it a pointer, a slice or a map with omitempty", path, name, configuration)
		}
		if _, ok := reflect.PointerTo(configuration).MethodByName("With" + its.Name); !ok && !its.Anonymous {
			t.Errorf("%s.%s: %s has no setter With%s", path, name, configuration, its.Name)
		}
		compareApply(t, path+"."+name, field.Type, its.Type)
	}
}

// wireField is a field of a struct.
type wireField struct{ reflect.StructField }

// optional says whether a field without a value is left out.
func (f wireField) optional() bool { return strings.Contains(f.Tag.Get("json"), ",omitempty") }

// wireFields returns the fields of a struct by their names on the wire.
func wireFields(typ reflect.Type) map[string]wireField {
	fields := map[string]wireField{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			for name, embedded := range wireFields(field.Type) {
				fields[name] = embedded
			}
			continue
		}
		fields[name] = wireField{field}
	}
	return fields
}

// wireType is the schema's type and format of a Go type.
func wireType(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[metav1.Time]():
		return "string date-time"
	case typ.Kind() == reflect.String:
		return "string "
	case typ.Kind() == reflect.Int32:
		return "integer int32"
	case typ.Kind() == reflect.Int64:
		return "integer int64"
	case typ.Kind() == reflect.Slice:
		return "array "
	case typ.Kind() == reflect.Bool:
		return "boolean "
	case typ.Kind() == reflect.Struct, typ.Kind() == reflect.Map:
		return "object "
	default:
		return "a type that this test has to learn: " + typ.String()
	}
}
