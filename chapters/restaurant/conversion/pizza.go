package conversion

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// layers is a v1beta1 Pizza's annotation with the data that v1beta1 cannot express: the list of
// v1alpha1, as JSON.
const layers = "v1alpha1." + v1alpha1.GroupName + "/toppings"

// PizzaToV1beta1 returns the same pizza in v1beta1. The result shares no memory with in. Its TypeMeta is
// empty.
func PizzaToV1beta1(in *v1alpha1.Pizza) *v1beta1.Pizza {
	out := &v1beta1.Pizza{}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	names := in.Spec.Toppings
	out.Spec.Toppings = count(names)

	// In a v1alpha1 object it is forged.
	remove(&out.ObjectMeta)
	// v1beta1 cannot express the list.
	if !slices.Equal(list(out.Spec.Toppings), names) {
		put(&out.ObjectMeta, names)
	}
	return out
}

// PizzaToV1alpha1 is the inverse of PizzaToV1beta1.
func PizzaToV1alpha1(in *v1beta1.Pizza) *v1alpha1.Pizza {
	out := &v1alpha1.Pizza{}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	toppings := in.Spec.Toppings
	out.Spec.Toppings = list(toppings)

	// Any client can write the annotation. It is used only if it matches the spec, which the
	// schema has validated.
	var before []string
	if json.Unmarshal([]byte(in.Annotations[layers]), &before) == nil && slices.Equal(count(before), toppings) {
		out.Spec.Toppings = before
	}
	remove(&out.ObjectMeta)
	return out
}

// count returns each name once, in the order of first appearance, with its quantity.
func count(names []string) []v1beta1.PizzaTopping {
	if names == nil {
		return nil
	}
	toppings := make([]v1beta1.PizzaTopping, 0, len(names))
	at := map[string]int{}
	for _, name := range names {
		i, ok := at[name]
		if !ok {
			i = len(toppings)
			at[name] = i
			toppings = append(toppings, v1beta1.PizzaTopping{Name: name})
		}
		toppings[i].Quantity++
	}
	return toppings
}

// list returns each name as often as its quantity. If the quantities are invalid, it returns each name
// once: a quantity of 10⁹ must not take gigabytes.
func list(toppings []v1beta1.PizzaTopping) []string {
	if toppings == nil {
		return nil
	}
	portions, valid := 0, true
	for _, topping := range toppings {
		portions += int(topping.Quantity)
		valid = valid && topping.Quantity > 0 && portions <= v1beta1.MaxQuantity
	}
	names := make([]string, 0, len(toppings))
	for _, topping := range toppings {
		names = append(names, topping.Name)
		for i := int32(1); valid && i < topping.Quantity; i++ {
			names = append(names, topping.Name)
		}
	}
	return names
}

// put writes names into the annotation. If they do not fit, it omits them, and the order is lost: the
// API server would reject a converted object with annotations that are too large, and each list
// that contains the object.
func put(meta *metav1.ObjectMeta, names []string) {
	text, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	metav1.SetMetaDataAnnotation(meta, layers, string(text))
	if validation.ValidateAnnotationsSize(meta.Annotations) != nil {
		remove(meta)
	}
}

// remove removes the annotation. It leaves nil, not an empty map, as before put.
func remove(meta *metav1.ObjectMeta) {
	delete(meta.Annotations, layers)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
}
