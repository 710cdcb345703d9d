package conversion

import (
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// ToppingToV1beta1 returns the same topping in v1beta1. TypeMeta is left empty.
func ToppingToV1beta1(in *v1alpha1.Topping) *v1beta1.Topping {
	out := &v1beta1.Topping{Spec: v1beta1.ToppingSpec(in.Spec)}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// ToppingToV1alpha1 is the opposite of ToppingToV1beta1.
func ToppingToV1alpha1(in *v1beta1.Topping) *v1alpha1.Topping {
	out := &v1alpha1.Topping{Spec: v1alpha1.ToppingSpec(in.Spec)}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}
