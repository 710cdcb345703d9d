package v1beta1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Each pointer, slice and map has separate memory, nil stays nil, and empty stays empty.

// DeepCopyInto writes a deep copy of p into out, which must not be nil.
func (p *Pizza) DeepCopyInto(out *Pizza) {
	*out = *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	p.Spec.DeepCopyInto(&out.Spec)
}

// DeepCopyObject makes *Pizza a runtime.Object. It returns an untyped nil for nil.
func (p *Pizza) DeepCopyObject() runtime.Object {
	if p == nil {
		return nil
	}
	out := new(Pizza)
	p.DeepCopyInto(out)
	return out
}

// DeepCopyInto writes a deep copy of s into out, which must not be nil. A topping has no pointers,
// so copying the slice is enough.
func (s *PizzaSpec) DeepCopyInto(out *PizzaSpec) {
	*out = *s
	out.Toppings = slices.Clone(s.Toppings)
}
