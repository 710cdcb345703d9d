// Package restaurant_test compares the CustomResourceDefinitions with the Go types.
package restaurant_test

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/kit/crd"
)

func read(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("config/crd/" + plural + "." + v1alpha1.GroupName + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return crd.Read(t, text)
}

// TestDefinitions: the definitions work without a conversion program. Only the stored version of a Pizza
// is served. A Topping is the same in both versions.
func TestDefinitions(t *testing.T) {
	for _, plural := range []string{"pizzas", "toppings"} {
		d := read(t, plural)
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

// TestSchemas: Go types and schemas have the same fields.
func TestSchemas(t *testing.T) {
	for plural, types := range map[string][]reflect.Type{
		"pizzas":   {reflect.TypeFor[v1alpha1.Pizza](), reflect.TypeFor[v1beta1.Pizza]()},
		"toppings": {reflect.TypeFor[v1alpha1.Topping](), reflect.TypeFor[v1alpha1.Topping]()},
	} {
		for i, version := range read(t, plural).Spec.Versions {
			crd.Compare(t, version.Name+" "+types[i].Name(), types[i], version.Schema.OpenAPIV3Schema)
		}
	}
}

func TestMaxQuantity(t *testing.T) {
	versions := read(t, "pizzas").Spec.Versions
	names := versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["toppings"]
	toppings := versions[1].Schema.OpenAPIV3Schema.Properties["spec"].Properties["toppings"]
	bounds := []int{int(*names.MaxItems), int(*toppings.MaxItems), int(*toppings.Items.Schema.Properties["quantity"].Maximum)}
	if diff := cmp.Diff([]int{v1beta1.MaxQuantity, v1beta1.MaxQuantity, v1beta1.MaxQuantity}, bounds); diff != "" {
		t.Errorf("bounds (-MaxQuantity +schema):\n%s", diff)
	}
}
