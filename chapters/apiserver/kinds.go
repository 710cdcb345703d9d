package main

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// group is this server's. It cannot be that of the CustomResourceDefinitions: the API
// server makes an APIService of its own for each version of theirs.
const group = "aggregated." + v1beta1.GroupName

// hub is the version that is stored, and in which everything is compared and decided.
const hub = "v1beta1"

// versions are served, the preferred one first.
var versions = []string{hub, "v1alpha1"}

// object is a Pizza or a Topping, in any version. One that is stored is never changed.
type object interface {
	metav1.Object
	runtime.Object
}

// kind is what clients are told of a kind, and what the handlers must know of it.
type kind struct {
	name, resource, singular string
	shortNames               []string
	namespaced               bool
	columns                  []metav1.TableColumnDefinition
	// cells are those of a row, without the first and the last: name and age.
	cells func(object) []any
}

var kinds = []*kind{
	{
		name: "Pizza", resource: "pizzas", singular: "pizza", shortNames: []string{"pz"}, namespaced: true,
		columns: []metav1.TableColumnDefinition{{Name: "Toppings", Type: "string", Description: "What is on it, from the bottom up."}},
		cells:   func(o object) []any { return []any{describe(o.(*v1beta1.Pizza).Spec.Toppings)} },
	},
	{
		name: "Topping", resource: "toppings", singular: "topping",
		columns: []metav1.TableColumnDefinition{{Name: "Cost", Type: "integer", Description: "What one portion costs, in cents."}},
		cells:   func(o object) []any { return []any{o.(*v1beta1.Topping).Spec.Cost} },
	},
}

// describe says what is on a pizza in a few words: "tomato, 2 salami".
func describe(toppings []v1beta1.PizzaTopping) string {
	var words []string
	for _, topping := range toppings {
		word := topping.Name
		if topping.Quantity != 1 {
			word = fmt.Sprintf("%d %s", topping.Quantity, word)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// kindOf returns the kind of a resource, nil if there is none.
func kindOf(resource string) *kind {
	for _, kind := range kinds {
		if kind.resource == resource {
			return kind
		}
	}
	return nil
}

func (k *kind) gvk(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: k.name}
}

func (k *kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: k.resource}
}

func (k *kind) groupKind() schema.GroupKind { return schema.GroupKind{Group: group, Kind: k.name} }

// scheme has the types of package restaurant under this server's group.
var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToSchemeAs(schema.GroupVersion{Group: group, Version: "v1alpha1"})(scheme))
	utilruntime.Must(v1beta1.AddToSchemeAs(schema.GroupVersion{Group: group, Version: hub})(scheme))
	return scheme
}()

// toHub returns a copy of an object in the version that is stored.
func toHub(in object) object {
	switch in := in.(type) {
	case *v1alpha1.Pizza:
		return stamp(conversion.PizzaToV1beta1(in), hub)
	case *v1alpha1.Topping:
		return stamp(conversion.ToppingToV1beta1(in), hub)
	default:
		return stamp(copyOf(in), hub)
	}
}

// fromHub returns a copy of a stored object in a version.
func fromHub(in object, version string) object {
	out := copyOf(in)
	if version == "v1alpha1" {
		switch in := in.(type) {
		case *v1beta1.Pizza:
			out = conversion.PizzaToV1alpha1(in)
		case *v1beta1.Topping:
			out = conversion.ToppingToV1alpha1(in)
		}
	}
	return stamp(out, version)
}

// stamp writes apiVersion and kind into an object. In Go the type says both, in JSON only
// they do.
func stamp(o object, version string) object {
	name := "Pizza"
	switch o.(type) {
	case *v1alpha1.Topping, *v1beta1.Topping:
		name = "Topping"
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: name})
	return o
}

func copyOf(o object) object { return o.DeepCopyObject().(object) }

// specOf returns the spec of an object, to compare it with another one.
func specOf(o object) any {
	switch o := o.(type) {
	case *v1beta1.Pizza:
		return o.Spec
	case *v1beta1.Topping:
		return o.Spec
	default:
		panic(fmt.Sprintf("%T is not in version %s", o, hub))
	}
}
