package main

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// setDefaults completes a Pizza, before anybody looks at it.
func setDefaults(o any) {
	pizza := o.(*v1beta1.Pizza)
	if len(pizza.Spec.Toppings) > 0 {
		return
	}
	for _, name := range []string{"tomato", "mozzarella", "salami"} {
		pizza.Spec.Toppings = append(pizza.Spec.Toppings, v1beta1.PizzaTopping{Name: name, Quantity: 1})
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
		return apierrors.NewInvalid(hub.WithKind(k.name).GroupKind(), o.GetName(), errs)
	}
	return nil
}

// validateToppings looks each topping up. It runs while nothing else is written, so none can
// go between the look and the write. One that is being deleted is not in use, and stays so.
func validateToppings(pizza *v1beta1.Pizza, all map[key]object) (errs field.ErrorList) {
	path := field.NewPath("spec", "toppings")
	seen, portions := map[string]bool{}, int64(0)
	for i, portion := range pizza.Spec.Toppings {
		name := path.Index(i).Child("name")
		topping := all[toppingKey(portion.Name)]
		switch {
		case seen[portion.Name]:
			errs = append(errs, field.Duplicate(name, portion.Name))
		case topping == nil:
			errs = append(errs, field.NotFound(name, portion.Name))
		case topping.GetDeletionTimestamp() != nil:
			errs = append(errs, field.Invalid(name, portion.Name, "is being deleted"))
		}
		seen[portion.Name] = true
		if portion.Quantity < 1 {
			errs = append(errs, field.Invalid(path.Index(i).Child("quantity"), portion.Quantity, "must be at least 1"))
		}
		portions += int64(portion.Quantity)
	}
	if portions > v1beta1.MaxQuantity {
		errs = append(errs, field.Invalid(path, portions, fmt.Sprintf("must be at most %d portions together", v1beta1.MaxQuantity)))
	}
	return errs
}

// mayDelete returns an error for a topping that is in use. A webhook could look for that,
// too, but a pizza could come before the topping has gone.
func mayDelete(o object, all map[key]object) error {
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
				return apierrors.NewConflict(toppings.groupResource(), o.GetName(), fmt.Errorf("it is in use: pizza %s/%s has it", pizza.Namespace, pizza.Name))
			}
		}
	}
	return nil
}

// checkVersion returns an error unless an object is the one that a client has seen, as far as
// the client says: its UID, and its resourceVersion.
func checkVersion(k *kind, o object, uid, resourceVersion string) error {
	switch {
	case uid != "" && uid != string(o.GetUID()):
		return apierrors.NewConflict(k.groupResource(), o.GetName(), fmt.Errorf("its UID is %s, not %s", o.GetUID(), uid))
	case resourceVersion != "" && resourceVersion != o.GetResourceVersion():
		return apierrors.NewConflict(k.groupResource(), o.GetName(), errModified)
	}
	return nil
}

// errModified is what every API server says to a write that carries an older version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")
