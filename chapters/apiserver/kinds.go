package main

import (
	"errors"

	apiconversion "k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/byhand/chapters/apiserver/storage"
	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// group is this server's. It cannot be that of the CustomResourceDefinitions: the API
// server makes an APIService of its own for each version of theirs.
const group = "aggregated." + v1beta1.GroupName

// hub is the version in which objects are stored, compared and checked.
var hub = schema.GroupVersion{Group: group, Version: "v1beta1"}

// versions are served, the preferred one first.
var versions = []schema.GroupVersion{hub, {Group: group, Version: "v1alpha1"}}

// object is a Pizza or a Topping, in any version. One that is stored is never changed.
type object = storage.Object

// key is where an object is stored. The namespace of a Topping is "".
type key = storage.Key

// kind is what the handlers must know of a kind. Clients read discovery.yaml.
type kind struct {
	name, resource string
	namespaced     bool
	spec           func(object) any
}

var (
	pizzas = &kind{
		name: "Pizza", resource: "pizzas", namespaced: true,
		spec: func(o object) any { return o.(*v1beta1.Pizza).Spec },
	}
	toppings = &kind{
		name: "Topping", resource: "toppings",
		spec: func(o object) any { return o.(*v1beta1.Topping).Spec },
	}
	kinds = []*kind{pizzas, toppings}
)

// groupResource is empty without a kind.
func (k *kind) groupResource() schema.GroupResource {
	if k == nil {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: group, Resource: k.resource}
}

// scheme has the types of package restaurant under this server's group, how to convert
// them, and their defaults. The CustomResourceDefinitions need a webhook for the second.
var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(
		v1beta1.AddToSchemeAs(versions[0])(scheme),
		v1alpha1.AddToSchemeAs(versions[1])(scheme),
		addConversion(scheme, conversion.PizzaToV1beta1), addConversion(scheme, conversion.PizzaToV1alpha1),
		addConversion(scheme, conversion.ToppingToV1beta1), addConversion(scheme, conversion.ToppingToV1alpha1),
	))
	scheme.AddTypeDefaultingFunc(&v1beta1.Pizza{}, setDefaults)
	return scheme
}()

// addConversion registers a conversion in one direction. The types say which.
func addConversion[From, To any](scheme *runtime.Scheme, convert func(*From) *To) error {
	return scheme.AddConversionFunc((*From)(nil), (*To)(nil), func(in, out any, _ apiconversion.Scope) error {
		*out.(*To) = *convert(in.(*From))
		return nil
	})
}

// to returns a copy of an object in a version. apiVersion and kind are filled in: in Go the
// type says both, in JSON only they do.
func to(version schema.GroupVersion, o runtime.Object) object {
	out, err := scheme.ConvertToVersion(o, version)
	utilruntime.Must(err) // Each kind has each version.
	return out.(object)
}

// deepCopy returns a copy that may be changed.
func deepCopy(o object) object { return o.DeepCopyObject().(object) }
