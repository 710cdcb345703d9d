// Package crd reads CustomResourceDefinitions. Compare compares one with the Go types of its kind, because
// no generator keeps them in step. Resource makes an API server in memory (package testkit) serve one.
// Kubernetes' own packages prune, default and validate its objects, so an object is stored as a real API
// server stores it, or rejected for the same fields.
//
// Limitations:
//
//   - Resource checks the schema of a definition with its defaults. An API server rejects more, such
//     as a wrong name, a list key that is not required, or a rule that may take too long. A rule that
//     does not compile rejects each object here.
//   - A negative number of replicas is accepted if the schema has no minimum.
//   - One version is served, and it is the stored one. Resource rejects everything else.
//   - A format, a selectable field and a column are used, not checked against the schema.
package crd

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// T is a test.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Read parses a definition in YAML. An error ends the test.
func Read(t T, text []byte) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Compare fails the test unless each field of a Go type is in the schema, with a description and the right
// type, and each field of the schema is in Go. A client drops fields that its type lacks; an API server drops
// fields that the schema lacks. path names the type in messages: for a kind, the kind's name.
func Compare(t T, path string, typ reflect.Type, got *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	preserves := ptr.Deref(got.XPreserveUnknownFields, false)
	want, says := wireType(typ), strings.TrimSpace(got.Type+" "+got.Format)
	switch {
	case want == "":
		t.Errorf("%s: Go has %s, and this test does not know its JSON: use a type that it knows (a number is an int32, an int64 or a float64), "+
			"or add the type to wireType in kit/crd/crd.go", path, typ)
		return
	case want == intOrString && got.XIntOrString, want == anything && preserves:
		return
	case want != says:
		t.Errorf("%s: Go has %s, which is %q on the wire; the schema says %q", path, typ, want, says)
		return
	}
	switch {
	case got.Format == "byte":
	case typ.Kind() == reflect.Slice && (got.Items == nil || got.Items.Schema == nil):
		t.Errorf("%s: the schema does not say what the list holds: it has no items", path)
	case typ.Kind() == reflect.Slice:
		Compare(t, path+"[]", typ.Elem(), got.Items.Schema)
	case typ.Kind() == reflect.Map && got.AdditionalProperties != nil && got.AdditionalProperties.Schema != nil:
		Compare(t, path+"{}", typ.Elem(), got.AdditionalProperties.Schema)
	case typ.Kind() == reflect.Map && !preserves && (got.AdditionalProperties == nil || !got.AdditionalProperties.Allows):
		t.Errorf("%s: the schema does not say what the map holds: it has no additionalProperties", path)
	case typ == reflect.TypeFor[metav1.ObjectMeta]():
		if !preserves && len(got.Properties) == 0 {
			t.Errorf("%s: an API server drops labels and everything else of an embedded metadata: add x-kubernetes-preserve-unknown-fields: true or properties", path)
		}
	case typ.Kind() == reflect.Struct && got.Type == "object" && (!preserves || len(got.Properties) > 0):
		compareFields(t, path, Fields(typ), got, preserves)
	}
}

// compareFields compares the fields of a struct with the properties of its schema.
func compareFields(t T, path string, fields map[string]Field, got *apiextensionsv1.JSONSchemaProps, preserves bool) {
	t.Helper()
	kind, _, inside := strings.Cut(path, ".")
	var required []string
	for name, field := range fields {
		// A client creates an object without a status, and may set a status in part.
		if status := kind + ".status"; path != status && path+"."+name != status && !field.Optional() {
			required = append(required, name)
		}
		// An API server adds these three to the schema of a whole object.
		if (!inside || got.XEmbeddedResource) && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		property, ok := got.Properties[name]
		if !ok {
			if !preserves {
				t.Errorf("%s.%s is in Go and not in the schema", path, name)
			}
			continue
		}
		Compare(t, path+"."+name, field.Type, &property)
		if property.Description == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
	}
	for name, property := range got.Properties {
		if _, ok := fields[name]; !ok && property.Not == nil {
			t.Errorf("%s.%s is in the schema and not in Go", path, name)
		}
	}
	slices.Sort(required)
	if want := slices.Sorted(slices.Values(got.Required)); !slices.Equal(required, want) {
		t.Errorf("%s: the schema requires %v, and Go always sends %v: the fields without omitempty", path, want, required)
	}
}

// Field is a field of a struct.
type Field struct{ reflect.StructField }

// Optional reports whether JSON omits the field if it has no value.
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

// Markers of schemas without a type.
const intOrString, anything = "x-kubernetes-int-or-string: true", "x-kubernetes-preserve-unknown-fields: true"

// wireType returns the type and format of a Go type in a schema, "" if unknown.
func wireType(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "string date-time"
	case reflect.TypeFor[metav1.Duration]():
		return "string"
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return intOrString
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[apiextensionsv1.JSON]():
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
		return "string"
	case reflect.Int32:
		return "integer int32"
	case reflect.Int64:
		return "integer int64"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Bool:
		return "boolean"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return ""
	}
}
