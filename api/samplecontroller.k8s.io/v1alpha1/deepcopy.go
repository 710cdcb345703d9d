package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies f into out.
func (f *Foo) DeepCopyInto(out *Foo) {
	*out = *f
	f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	f.Spec.DeepCopyInto(&out.Spec)
	f.Status.DeepCopyInto(&out.Status)
}

// DeepCopy copies f.
func (f *Foo) DeepCopy() *Foo {
	if f == nil {
		return nil
	}
	out := new(Foo)
	f.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *Foo a runtime.Object.
func (f *Foo) DeepCopyObject() runtime.Object {
	if c := f.DeepCopy(); c != nil {
		return c
	}
	return nil
}

// DeepCopyInto copies s into out. new(value) is a pointer to a new variable with that value
// (since Go 1.26). Without new, the copy is equal, but shares memory with the original: only
// TestDeepCopySharesNoMemory detects that.
func (s *FooSpec) DeepCopyInto(out *FooSpec) {
	*out = *s
	if s.Replicas != nil {
		out.Replicas = new(*s.Replicas)
	}
}

// DeepCopy copies s.
func (s *FooSpec) DeepCopy() *FooSpec {
	if s == nil {
		return nil
	}
	out := new(FooSpec)
	s.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies s into out.
func (s *FooStatus) DeepCopyInto(out *FooStatus) {
	*out = *s
	if s.Conditions != nil {
		out.Conditions = make([]metav1.Condition, len(s.Conditions))
		for i := range s.Conditions {
			s.Conditions[i].DeepCopyInto(&out.Conditions[i])
		}
	}
}

// DeepCopy copies s.
func (s *FooStatus) DeepCopy() *FooStatus {
	if s == nil {
		return nil
	}
	out := new(FooStatus)
	s.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies l into out.
func (l *FooList) DeepCopyInto(out *FooList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Foo, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

// DeepCopy copies l.
func (l *FooList) DeepCopy() *FooList {
	if l == nil {
		return nil
	}
	out := new(FooList)
	l.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes *FooList a runtime.Object.
func (l *FooList) DeepCopyObject() runtime.Object {
	if c := l.DeepCopy(); c != nil {
		return c
	}
	return nil
}
