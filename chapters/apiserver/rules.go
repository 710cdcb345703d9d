package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// setDefaults completes a Pizza, before it is checked.
func setDefaults(o any) {
	pizza := o.(*v1beta1.Pizza)
	if len(pizza.Spec.Toppings) > 0 {
		return
	}
	for _, name := range []string{"tomato", "mozzarella", "salami"} {
		pizza.Spec.Toppings = append(pizza.Spec.Toppings, v1beta1.PizzaTopping{Name: name, Quantity: 1})
	}
}

// validate returns an error unless an object is a good one by itself. current is what it
// replaces, nil for a new one.
func validate(k *kind, o, current object) error {
	path := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(o, k.namespaced, validation.NameIsDNSSubdomain, path)
	if current != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(o, current, path)...)
	}
	switch o := o.(type) {
	case *v1beta1.Pizza:
		errs = append(errs, validatePortions(o)...)
	case *v1beta1.Topping:
		if o.Spec.Cost < 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "cost"), o.Spec.Cost, "must not be negative"))
		}
	}
	return invalid(k, o, errs)
}

// invalid names the first mistakes. To name all takes time that grows with the square of their
// number: 25 s and 10 GB for 4,000 owner references without a name.
func invalid(k *kind, o object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(hub.WithKind(k.name).GroupKind(), o.GetName(), errs[:min(len(errs), maxMistakes)])
}

func validatePortions(pizza *v1beta1.Pizza) (errs field.ErrorList) {
	path := field.NewPath("spec", "toppings")
	seen, portions := map[string]bool{}, int64(0)
	for i, portion := range pizza.Spec.Toppings {
		if seen[portion.Name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), portion.Name))
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

// validateToppings looks each topping of a pizza up. It runs while nothing else is written, so
// none can go between the look and the write. One that is being deleted is not in use, and
// stays so.
func validateToppings(o object, all map[key]object) error {
	pizza, ok := o.(*v1beta1.Pizza)
	if !ok {
		return nil
	}
	var errs field.ErrorList
	for i, portion := range pizza.Spec.Toppings {
		name := field.NewPath("spec", "toppings").Index(i).Child("name")
		switch topping := all[toppingKey(portion.Name)]; {
		case topping == nil:
			errs = append(errs, field.NotFound(name, portion.Name))
		case topping.GetDeletionTimestamp() != nil:
			errs = append(errs, field.Invalid(name, portion.Name, "is being deleted"))
		}
	}
	return invalid(pizzas, o, errs)
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

// PizzaPrice is the answer of GET pizzas/NAME/price. It is stored nowhere. A
// CustomResourceDefinition can have two subresources, status and scale, and none of its own.
type PizzaPrice struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	// Cents is the sum of all portions.
	Cents int64 `json:"cents"`
}

// price adds up what is on a pizza. All costs are of one moment: no write comes between.
func (s *server) price(w *answerWriter, r *request) (err error) {
	answer := PizzaPrice{TypeMeta: typeMeta("PizzaPrice", r.version)}
	s.storage.Read(func(revision int64, all map[key]object) {
		pizza, ok := all[r.key()].(*v1beta1.Pizza)
		if !ok {
			err = apierrors.NewNotFound(r.kind.groupResource(), r.name)
			return
		}
		answer.ObjectMeta = metav1.ObjectMeta{Namespace: r.namespace, Name: r.name, UID: pizza.UID, ResourceVersion: strconv.FormatInt(revision, 10)}
		for _, portion := range pizza.Spec.Toppings {
			// It is there: it is in use.
			topping := all[toppingKey(portion.Name)].(*v1beta1.Topping)
			answer.Cents += int64(portion.Quantity) * int64(topping.Spec.Cost)
		}
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, answer)
}

func toppingKey(name string) key { return key{Resource: toppings.resource, Name: name} }
