package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Each pointer, slice and map of a copy gets separate memory; nil stays nil and empty stays
// empty. Otherwise a change to the copy changes the store, which all goroutines share.
// A struct without any needs no DeepCopyInto. TestKind names a forgotten field.

// DeepCopyInto writes a deep copy of w into out, which must not be nil.
func (w *Widget) DeepCopyInto(out *Widget) {
	*out = *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	w.Spec.DeepCopyInto(&out.Spec)
	w.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a deep copy of w, or nil for nil.
func (w *Widget) DeepCopy() *Widget {
	if w == nil {
		return nil
	}
	out := new(Widget)
	w.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *Widget a runtime.Object. It returns an untyped nil for nil.
func (w *Widget) DeepCopyObject() runtime.Object {
	if c := w.DeepCopy(); c != nil {
		return c
	}
	return nil
}

func (s *WidgetSpec) DeepCopyInto(out *WidgetSpec) {
	*out = *s
}

func (s *WidgetStatus) DeepCopyInto(out *WidgetStatus) {
	*out = *s
	// A condition has no pointer, slice or map. Where items have, copy one by one, as below.
	out.Conditions = slices.Clone(s.Conditions)
}

func (l *WidgetList) DeepCopyInto(out *WidgetList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Widget, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

// DeepCopyObject makes *WidgetList a runtime.Object. It returns an untyped nil for nil.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := new(WidgetList)
	l.DeepCopyInto(out)
	return out
}
