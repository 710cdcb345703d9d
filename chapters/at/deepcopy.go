package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Each pointer, slice and map of a copy has separate memory. nil stays nil and empty stays
// empty. Otherwise a change of the copy changes the store, which all goroutines share.

// DeepCopyInto writes a deep copy of a into out, which must not be nil.
func (a *At) DeepCopyInto(out *At) {
	*out = *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	a.Spec.DeepCopyInto(&out.Spec)
	a.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a deep copy of a, or nil for nil.
func (a *At) DeepCopy() *At {
	if a == nil {
		return nil
	}
	out := new(At)
	a.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *At a runtime.Object. It returns an untyped nil for nil.
func (a *At) DeepCopyObject() runtime.Object {
	if c := a.DeepCopy(); c != nil {
		return c
	}
	return nil
}

// DeepCopyInto writes a deep copy of s into out, which must not be nil.
func (s *AtSpec) DeepCopyInto(out *AtSpec) {
	*out = *s
	if s.Containers != nil {
		out.Containers = make([]AtContainer, len(s.Containers))
		for i := range s.Containers {
			s.Containers[i].DeepCopyInto(&out.Containers[i])
		}
	}
	if s.StartingDeadlineSeconds != nil {
		out.StartingDeadlineSeconds = new(*s.StartingDeadlineSeconds)
	}
}

// DeepCopyInto writes a deep copy of c into out, which must not be nil.
func (c *AtContainer) DeepCopyInto(out *AtContainer) {
	*out = *c
	out.Command = slices.Clone(c.Command)
	out.Args = slices.Clone(c.Args)
}

// DeepCopyInto writes a deep copy of s into out, which must not be nil.
func (s *AtStatus) DeepCopyInto(out *AtStatus) {
	*out = *s
	out.StartTime = s.StartTime.DeepCopy()
	out.CompletionTime = s.CompletionTime.DeepCopy()
}

// DeepCopyInto writes a deep copy of l into out, which must not be nil.
func (l *AtList) DeepCopyInto(out *AtList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]At, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

// DeepCopyObject makes *AtList a runtime.Object. It returns an untyped nil for nil.
func (l *AtList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := new(AtList)
	l.DeepCopyInto(out)
	return out
}
