package schema

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// required is which fields an object must have, per place. It is a table of its
// own because Go cannot say it: omitempty says what is sent, not what is needed.
// (replicas of a Foo may be left out, and the official client sends null.)
var required = map[string][]string{
	"Project":                 {"spec"},
	"Project.spec":            {"replicas"},
	"Foo":                     {"spec"},
	"Foo.spec":                {"deploymentName"},
	"Foo.status.conditions[]": {"lastTransitionTime", "message", "reason", "status", "type"},
}

// definitions are all there are.
var definitions = []struct {
	file, kind, plural string
	gv                 schema.GroupVersion
	typ                reflect.Type
	subresources       map[string]any
}{
	{"projects.examples-gzh.com.yaml", "Project", "projects", examplesv1alpha1.SchemeGroupVersion, reflect.TypeFor[examplesv1alpha1.Project](), nil},
	{"foos.samplecontroller.k8s.io.yaml", "Foo", "foos", samplecontrollerv1alpha1.SchemeGroupVersion, reflect.TypeFor[samplecontrollerv1alpha1.Foo](), map[string]any{
		"status": map[string]any{},
		"scale":  map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"},
	}},
}

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
	Type       string          `json:"type"`
	Format     string          `json:"format"`
	Required   []string        `json:"required"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
}

func read(t *testing.T, file string) definition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../config/crd", file))
	if err != nil {
		t.Fatal(err)
	}
	var d definition
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The name, the group, the version and the kinds are those that Go registers. A
// group spelled in two ways is two URLs, and one of them is 404.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/*.yaml")
	if err != nil || len(files) != len(definitions) {
		t.Errorf("%d files in config/crd (%v), this test knows %d", len(files), err, len(definitions))
	}
	for _, want := range definitions {
		got := read(t, want.file)
		if got.APIVersion != "apiextensions.k8s.io/v1" || len(got.Spec.Versions) != 1 {
			t.Fatalf("%s: apiVersion %s, %d versions", want.file, got.APIVersion, len(got.Spec.Versions))
		}
		if diff := cmp.Diff(
			[]string{want.plural + "." + want.gv.Group, want.gv.Group, want.gv.Version, want.kind, want.kind + "List", want.plural},
			[]string{got.Metadata.Name, got.Spec.Group, got.Spec.Versions[0].Name, got.Spec.Names.Kind, got.Spec.Names.ListKind, got.Spec.Names.Plural},
		); diff != "" {
			t.Errorf("%s: names (-Go +definition):\n%s", want.file, diff)
		}
		if diff := cmp.Diff(want.subresources, got.Spec.Versions[0].Subresources); diff != "" {
			t.Errorf("%s: subresources (-want +got):\n%s", want.file, diff)
		}
	}
}

// Each field of a Go type is in the schema, with the kind of value that it holds,
// and each field of the schema is in Go: a client drops what its type lacks, an
// API server what the schema lacks.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range definitions {
		compare(t, d.kind, d.typ, read(t, d.file).Spec.Versions[0].Schema.OpenAPIV3Schema, seen)
	}
	for place := range required {
		if !seen[place] {
			t.Errorf("the table of required fields has %s, which is nowhere", place)
		}
	}
}

func compare(t *testing.T, path string, typ reflect.Type, got node, seen map[string]bool) {
	t.Helper()
	seen[path] = true
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if want := wireType(typ); want != got.Type+" "+got.Format {
		t.Errorf("%s: Go has %s, which is %q on the wire; the schema says %q", path, typ, want, got.Type+" "+got.Format)
		return
	}
	if want := required[path]; !slices.Equal(want, slices.Sorted(slices.Values(got.Required))) {
		t.Errorf("%s: the schema requires %v, the table says %v", path, got.Required, want)
	}
	switch {
	case typ.Kind() == reflect.Slice && got.Items == nil:
		t.Errorf("%s: the schema does not say what the list holds", path)
	case typ.Kind() == reflect.Slice:
		compare(t, path+"[]", typ.Elem(), *got.Items, seen)
	case got.Type == "object" && typ != reflect.TypeFor[metav1.ObjectMeta]():
		fields := wireFields(typ)
		for name, field := range fields {
			if property, ok := got.Properties[name]; ok {
				compare(t, path+"."+name, field, property, seen)
			} else {
				t.Errorf("%s.%s is in Go and not in the schema", path, name)
			}
		}
		for name := range got.Properties {
			if fields[name] == nil {
				t.Errorf("%s.%s is in the schema and not in Go", path, name)
			}
		}
	}
}

// wireFields returns the fields of a struct by their names on the wire.
func wireFields(typ reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			for name, embedded := range wireFields(field.Type) {
				fields[name] = embedded
			}
			continue
		}
		fields[name] = field.Type
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
	case typ.Kind() == reflect.Struct:
		return "object "
	default:
		return "a type that this test has to learn: " + typ.String()
	}
}
