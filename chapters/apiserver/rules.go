package main

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// setDefaults completes an object, before anybody looks at it.
func setDefaults(o object) {
	if pizza, ok := o.(*v1beta1.Pizza); ok && len(pizza.Spec.Toppings) == 0 {
		for _, name := range []string{"tomato", "mozzarella", "salami"} {
			pizza.Spec.Toppings = append(pizza.Spec.Toppings, v1beta1.PizzaTopping{Name: name, Quantity: 1})
		}
	}
}

// validate returns an error unless an object may be stored among all others. current is
// what it replaces, nil for a new one.
func validate(k *kind, o, current object, all map[key]object) error {
	path := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(o, k.namespaced, validation.NameIsDNSSubdomain, path)
	if current != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(o, current, path)...)
	}
	switch o := o.(type) {
	case *v1beta1.Pizza:
		errs = append(errs, validateToppings(o, all)...)
	case *v1beta1.Topping:
		if o.Spec.Cost < 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "cost"), o.Spec.Cost, "must not be negative"))
		}
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(k.groupKind(), o.GetName(), errs)
	}
	return nil
}

// validateToppings looks each topping up. It runs while nothing else is written, so none can
// go between the look and the write. One that is being deleted is not in use, and stays so.
func validateToppings(pizza *v1beta1.Pizza, all map[key]object) (errs field.ErrorList) {
	path := field.NewPath("spec", "toppings")
	seen := map[string]bool{}
	for i, portion := range pizza.Spec.Toppings {
		name := path.Index(i).Child("name")
		if seen[portion.Name] {
			errs = append(errs, field.Duplicate(name, portion.Name))
		}
		seen[portion.Name] = true
		topping := all[toppingKey(portion.Name)]
		switch {
		case topping == nil:
			errs = append(errs, field.NotFound(name, portion.Name))
		case topping.GetDeletionTimestamp() != nil:
			errs = append(errs, field.Invalid(name, portion.Name, "is being deleted"))
		}
		if portion.Quantity < 1 || portion.Quantity > v1beta1.MaxQuantity {
			errs = append(errs, field.Invalid(path.Index(i).Child("quantity"), portion.Quantity, fmt.Sprintf("must be 1 to %d", v1beta1.MaxQuantity)))
		}
	}
	return errs
}

// mayDelete returns an error for a topping that is in use. A webhook could look for that,
// too, but a pizza could come before the topping has gone.
func mayDelete(k *kind, o object, all map[key]object) error {
	if _, ok := o.(*v1beta1.Topping); !ok {
		return nil
	}
	for _, other := range all {
		pizza, ok := other.(*v1beta1.Pizza)
		if !ok {
			continue
		}
		for _, portion := range pizza.Spec.Toppings {
			if portion.Name == o.GetName() {
				return apierrors.NewConflict(k.groupResource(), o.GetName(), fmt.Errorf("it is in use: pizza %s/%s has it", pizza.Namespace, pizza.Name))
			}
		}
	}
	return nil
}

// errModified is what every API server says to a write that carries an older version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// isMet returns an error unless what a client expects of an object is so.
func isMet(k *kind, o object, expected *metav1.Preconditions) error {
	if expected == nil {
		return nil
	}
	if uid := expected.UID; uid != nil && *uid != o.GetUID() {
		return apierrors.NewConflict(k.groupResource(), o.GetName(), fmt.Errorf("the UID in the precondition is %s, and that of the object %s", *uid, o.GetUID()))
	}
	if version := expected.ResourceVersion; version != nil && *version != o.GetResourceVersion() {
		return apierrors.NewConflict(k.groupResource(), o.GetName(), fmt.Errorf("the resourceVersion in the precondition is %s, and that of the object %s", *version, o.GetResourceVersion()))
	}
	return nil
}
