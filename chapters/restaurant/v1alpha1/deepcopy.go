package v1alpha1

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

// DeepCopyInto writes a deep copy of t into out, which must not be nil.
func (t *Topping) DeepCopyInto(out *Topping) {
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
}

// DeepCopyObject makes *Topping a runtime.Object. It returns an untyped nil for nil.
func (t *Topping) DeepCopyObject() runtime.Object {
	if t == nil {
		return nil
	}
	out := new(Topping)
	t.DeepCopyInto(out)
	return out
}

// DeepCopyInto writes a deep copy of l into out, which must not be nil.
func (l *ToppingList) DeepCopyInto(out *ToppingList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Topping, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

// DeepCopyObject makes *ToppingList a runtime.Object. It returns an untyped nil for nil.
func (l *ToppingList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := new(ToppingList)
	l.DeepCopyInto(out)
	return out
}
