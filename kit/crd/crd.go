// Package crd reads CustomResourceDefinitions. It compares one with the Go types of its kind: a
// generator would write the one from the other; by hand, a test has to look. And it says what an API
// server makes of an object, in as much as the server of package testkit refuses it.
package crd

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// Definition is the part of a CustomResourceDefinition that is read.
type Definition struct {
	APIVersion string
	Metadata   struct{ Name string }
	Spec       struct {
		Group, Scope string
		Conversion   any
		Names        struct {
			Kind, ListKind, Plural, Singular string
			ShortNames, Categories           []string
		}
		Versions []struct {
			Name            string
			Served, Storage bool
			Schema          struct{ OpenAPIV3Schema Schema }
			Subresources    map[string]any
		}
	}
}

// Schema is what an OpenAPI schema says of a field.
type Schema struct {
	Description, Type, Format, Pattern string
	Required, Enum                     []string
	Properties                         map[string]Schema
	Items                              *Schema
	// AdditionalProperties is what a map holds.
	AdditionalProperties           *Schema
	MaxItems, MinLength, MaxLength int
	Minimum, Maximum               *int64
	// IntOrString admits a number or a text, Preserve any field.
	IntOrString bool `json:"x-kubernetes-int-or-string"`
	Preserve    bool `json:"x-kubernetes-preserve-unknown-fields"`
	// Not is there for a property of which no value is valid.
	Not *struct{}
}

// Parse reads one in YAML.
func Parse(text []byte) (d Definition, err error) {
	return d, yaml.Unmarshal(text, &d)
}

// T is a test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Read reads one in YAML. The test ends if it cannot.
func Read(t T, text []byte) Definition {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Compare fails the test unless each field of a Go type is in the schema, described and with
// the kind of value that it holds, and each field of the schema in Go: a client drops what
// its type lacks, an API server what the schema lacks. path is what the messages call the
// type; that of a kind is its name.
func Compare(t T, path string, typ reflect.Type, got Schema) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want, says := wireType(typ), got.Type+" "+got.Format
	switch {
	case want == "":
		t.Errorf("%s: Go has %s, of which this test does not know the JSON: take a type that it knows (a number is an int32 or an int64), or teach package crd", path, typ)
		return
	case want == intOrString && got.IntOrString, want == anything && got.Preserve && got.Type == "object":
		return
	case want != says:
		t.Errorf("%s: Go has %s, which is %q on the wire; the schema says %q", path, typ, want, says)
		return
	}
	switch {
	case got.Format == "byte":
	case typ.Kind() == reflect.Slice && got.Items == nil:
		t.Errorf("%s: the schema does not say what the list holds: it has no items", path)
	case typ.Kind() == reflect.Slice:
		Compare(t, path+"[]", typ.Elem(), *got.Items)
	case typ.Kind() == reflect.Map && got.AdditionalProperties == nil:
		t.Errorf("%s: the schema does not say what the map holds: it has no additionalProperties", path)
	case typ.Kind() == reflect.Map:
		Compare(t, path+"{}", typ.Elem(), *got.AdditionalProperties)
	case got.Type == "object" && typ != reflect.TypeFor[metav1.ObjectMeta]():
		fields := Fields(typ)
		var required []string
		for name, field := range fields {
			property, ok := got.Properties[name]
			if !ok {
				t.Errorf("%s.%s is in Go and not in the schema", path, name)
				continue
			}
			Compare(t, path+"."+name, field.Type, property)
			// These three an API server describes itself.
			if property.Description == "" && name != "apiVersion" && name != "kind" && name != "metadata" {
				t.Errorf("%s.%s has no description", path, name)
			}
			// A program that creates an object knows no status, and one that writes a status
			// knows it in part.
			kind, _, _ := strings.Cut(path, ".")
			if status := kind + ".status"; path != status && path+"."+name != status && !field.Optional() {
				required = append(required, name)
			}
		}
		for name, property := range got.Properties {
			if _, ok := fields[name]; !ok && property.Not == nil {
				t.Errorf("%s.%s is in the schema and not in Go", path, name)
			}
		}
		slices.Sort(required)
		if slices.Sort(got.Required); !slices.Equal(required, got.Required) {
			t.Errorf("%s: the schema requires %v, and Go always sends %v: the fields without omitempty", path, got.Required, required)
		}
	}
}

// Field is a field of a struct.
type Field struct{ reflect.StructField }

// Optional says whether the wire lacks a field that has no value.
func (f Field) Optional() bool { return strings.Contains(f.Tag.Get("json"), ",omit") }

// Fields returns the fields of a struct by their names on the wire.
func Fields(typ reflect.Type) map[string]Field {
	fields := map[string]Field{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			for name, embedded := range Fields(field.Type) {
				fields[name] = embedded
			}
			continue
		}
		fields[cmp.Or(name, field.Name)] = Field{field}
	}
	return fields
}

// What has a schema of another kind.
const intOrString, anything = "x-kubernetes-int-or-string: true", "object x-kubernetes-preserve-unknown-fields: true"

// wireType is the schema's type and format of a Go type, "" if that is not known.
func wireType(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "string date-time"
	case reflect.TypeFor[metav1.Duration]():
		return "string "
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return intOrString
	case reflect.TypeFor[runtime.RawExtension]():
		return anything
	case reflect.TypeFor[[]byte]():
		return "string byte"
	}
	switch pointer := reflect.PointerTo(typ); {
	case pointer.Implements(reflect.TypeFor[json.Marshaler]()), pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return ""
	}
	switch typ.Kind() {
	case reflect.String:
		return "string "
	case reflect.Int32:
		return "integer int32"
	case reflect.Int64:
		return "integer int64"
	case reflect.Slice:
		return "array "
	case reflect.Bool:
		return "boolean "
	case reflect.Struct, reflect.Map:
		return "object "
	default:
		return ""
	}
}
