package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

// All readers of a store share its objects, so copy one before you change it. In a deep
// copy, each pointer, slice and map gets new memory. nil stays nil and empty stays empty,
// because they differ on the wire.

// DeepCopyInto writes a deep copy of p into out, which must not be nil.
func (p *Project) DeepCopyInto(out *Project) {
	// The assignment copies plain values, but only shares pointers.
	*out = *p
	// ObjectMeta holds maps and slices. An assignment alone is the classic mistake: both
	// objects would share one label map.
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	p.Spec.DeepCopyInto(&out.Spec)
}

// DeepCopy returns a deep copy of p, or nil for nil.
func (p *Project) DeepCopy() *Project {
	if p == nil {
		return nil
	}
	out := new(Project)
	p.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *Project a runtime.Object, the interface of every kind. It
// returns an untyped nil for nil: a nil *Project in an interface would be != nil.
func (p *Project) DeepCopyObject() runtime.Object {
	if c := p.DeepCopy(); c != nil {
		return c
	}
	return nil
}

// DeepCopyInto copies s into out.
func (s *ProjectSpec) DeepCopyInto(out *ProjectSpec) {
	// All fields are plain values. If you add a pointer, slice or map, copy it here.
	*out = *s
}

// DeepCopy copies s.
func (s *ProjectSpec) DeepCopy() *ProjectSpec {
	if s == nil {
		return nil
	}
	out := new(ProjectSpec)
	s.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies l into out.
func (l *ProjectList) DeepCopyInto(out *ProjectList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Project, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

// DeepCopy copies l.
func (l *ProjectList) DeepCopy() *ProjectList {
	if l == nil {
		return nil
	}
	out := new(ProjectList)
	l.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *ProjectList a runtime.Object.
func (l *ProjectList) DeepCopyObject() runtime.Object {
	if c := l.DeepCopy(); c != nil {
		return c
	}
	return nil
}
