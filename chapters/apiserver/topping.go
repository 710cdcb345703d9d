package main

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// topping is the only kind.
type topping = v1beta1.Topping

func deepCopy(t *topping) *topping { return t.DeepCopyObject().(*topping) }

var (
	// The group cannot be that of the CustomResourceDefinitions: they have an APIService already.
	version  = schema.GroupVersion{Group: "aggregated." + v1beta1.GroupName, Version: "v1beta1"}
	kind     = version.WithKind("Topping")
	resource = version.WithResource("toppings").GroupResource()

	scheme = runtime.NewScheme()
)

func init() { scheme.AddKnownTypes(version, &topping{}) }

// budget is what all toppings may cost together.
const budget = 10_000

// validate returns an error unless a topping is a good one by itself. current is nil for a new one.
func validate(t, current *topping) error {
	path := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(t, false, validation.NameIsDNSSubdomain, path)
	if current != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(t, current, path)...)
	}
	if t.Spec.Cost < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "cost"), t.Spec.Cost, "must not be negative"))
	}
	return invalid(kind.GroupKind(), t.Name, errs)
}

// checkBudget returns an error if all toppings cost too much with this one. It runs while nothing else
// is written: with a webhook, two that fit alone could both come.
func checkBudget(t *topping, all map[string]*topping) error {
	sum := int64(t.Spec.Cost)
	for _, other := range all {
		if other.Name != t.Name {
			sum += int64(other.Spec.Cost)
		}
	}
	if sum > budget {
		return apierrors.NewForbidden(resource, t.Name, fmt.Errorf("all toppings together may cost %d, and would cost %d", budget, sum))
	}
	return nil
}

// invalid names the first mistakes, nil without one. To name all takes time that grows with the square
// of their number.
func invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(kind, name, errs[:min(len(errs), maxMistakes)])
}
