// Package restaurant_test compares the CustomResourceDefinitions with the Go types.
package restaurant_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// definition is the part of a CustomResourceDefinition that is compared.
type definition struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group      string
		Conversion any
		Names      struct{ Kind, ListKind, Plural string }
		Versions   []struct {
			Name            string
			Served, Storage bool
			Schema          struct{ OpenAPIV3Schema node }
		}
	}
}

// node is a schema.
type node struct {
	Description, Type, Format string
	Required                  []string
	Properties                map[string]node
	Items                     *node
	MaxItems                  int
	Maximum                   int
}

func read(t *testing.T, plural string) (d definition) {
	t.Helper()
	text, err := os.ReadFile("config/crd/" + plural + "." + v1alpha1.GroupName + ".yaml")
	if err := errors.Join(err, yaml.Unmarshal(text, &d)); err != nil {
		t.Fatal(err)
	}
	return d
}

// The definitions say what is right while no program converts: of a Pizza only the version
// that is stored is served. A Topping is the same in both.
func TestDefinitions(t *testing.T) {
	for plural, kind := range map[string]string{"pizzas": "Pizza", "toppings": "Topping"} {
		d := read(t, plural)
		if diff := cmp.Diff(
			[]string{plural + "." + v1alpha1.GroupName, v1alpha1.GroupName, kind, kind + "List", plural},
			[]string{d.Metadata.Name, d.Spec.Group, d.Spec.Names.Kind, d.Spec.Names.ListKind, d.Spec.Names.Plural},
		); diff != "" {
			t.Errorf("names (-Go +definition):\n%s", diff)
		}
		if d.Spec.Conversion != nil {
			t.Errorf("%s: kubectl apply would fight with the program about spec.conversion", plural)
		}
		var versions []string
		for _, version := range d.Spec.Versions {
			versions = append(versions, fmt.Sprint(version.Name, " served ", version.Served, " stored ", version.Storage))
		}
		want := []string{"v1alpha1 served true stored true", fmt.Sprint("v1beta1 served ", plural == "toppings", " stored false")}
		if diff := cmp.Diff(want, versions); diff != "" {
			t.Errorf("%s: versions (-want +got):\n%s", plural, diff)
		}
	}
}

// Each field of a Go type is in the schema, and each field of the schema in Go: a client
// and a conversion drop what the type lacks, an API server what the schema lacks.
func TestSchemas(t *testing.T) {
	for plural, types := range map[string][]reflect.Type{
		"pizzas":   {reflect.TypeFor[v1alpha1.Pizza](), reflect.TypeFor[v1beta1.Pizza]()},
		"toppings": {reflect.TypeFor[v1alpha1.Topping](), reflect.TypeFor[v1beta1.Topping]()},
	} {
		for i, version := range read(t, plural).Spec.Versions {
			compare(t, version.Name+" "+types[i].Name(), types[i], version.Schema.OpenAPIV3Schema)
		}
	}
}

// The bound of the schema is that of the conversion.
func TestMaxQuantity(t *testing.T) {
	versions := read(t, "pizzas").Spec.Versions
	names := versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["toppings"]
	toppings := versions[1].Schema.OpenAPIV3Schema.Properties["spec"].Properties["toppings"]
	bounds := []int{names.MaxItems, toppings.MaxItems, toppings.Items.Properties["quantity"].Maximum}
	if diff := cmp.Diff([]int{v1beta1.MaxQuantity, v1beta1.MaxQuantity, v1beta1.MaxQuantity}, bounds); diff != "" {
		t.Errorf("bounds (-MaxQuantity +schema):\n%s", diff)
	}
}

func compare(t *testing.T, path string, typ reflect.Type, got node) {
	t.Helper()
	if want := wireType(typ); want != got.Type+" "+got.Format {
		t.Errorf("%s is %q in Go and %q in the schema", path, want, got.Type+" "+got.Format)
		return
	}
	if typ.Kind() == reflect.Slice {
		compare(t, path+"[]", typ.Elem(), *got.Items)
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[metav1.ObjectMeta]() {
		return
	}
	required, known := []string{}, []string{"apiVersion", "kind"}
	for field := range typ.Fields() {
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		known = append(known, name)
		property, ok := got.Properties[name]
		if !ok {
			t.Errorf("%s.%s is in Go and not in the schema", path, name)
			continue
		}
		if options == "" {
			required = append(required, name)
		}
		if name != "metadata" && property.Description == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
		compare(t, path+"."+name, field.Type, property)
	}
	for name := range got.Properties {
		if !slices.Contains(known, name) {
			t.Errorf("%s.%s is in the schema and not in Go", path, name)
		}
	}
	slices.Sort(required)
	if slices.Sort(got.Required); !slices.Equal(required, got.Required) {
		t.Errorf("%s: the schema requires %q, and Go always sends %q", path, got.Required, required)
	}
}

// wireType is the schema's type and format of a Go type.
func wireType(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string "
	case reflect.Int32:
		return "integer int32"
	case reflect.Slice:
		return "array "
	default:
		return "object "
	}
}
