package conversion

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// What the other version cannot express, as JSON. The name says which version's toppings
// it holds.
const (
	v1alpha1Toppings = "v1alpha1." + v1alpha1.GroupName + "/toppings"
	v1beta1Toppings  = "v1beta1." + v1alpha1.GroupName + "/toppings"
)

// maxName is how many bytes a name has at most: 253 characters, says the schema.
const maxName = 253 * utf8.UTFMax

// PizzaToV1beta1 returns the same pizza in v1beta1. It shares no memory with in. TypeMeta
// is left empty.
func PizzaToV1beta1(in *v1alpha1.Pizza) *v1beta1.Pizza {
	out := &v1beta1.Pizza{}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	names := in.Spec.Toppings
	out.Spec.Toppings = count(names)

	// Only an object of the other version has this annotation. Here somebody has forged it.
	take[[]string](&out.ObjectMeta, v1alpha1Toppings)
	// It was v1beta1 before, and said more.
	if before, ok := take[[]v1beta1.PizzaTopping](&out.ObjectMeta, v1beta1Toppings); ok && slices.Equal(list(before), names) {
		out.Spec.Toppings = before
	}
	// It says more than v1beta1 can.
	if !slices.Equal(list(out.Spec.Toppings), names) {
		put(&out.ObjectMeta, v1alpha1Toppings, names)
	}
	return out
}

// PizzaToV1alpha1 is the opposite of PizzaToV1beta1.
func PizzaToV1alpha1(in *v1beta1.Pizza) *v1alpha1.Pizza {
	out := &v1alpha1.Pizza{}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	toppings := in.Spec.Toppings
	out.Spec.Toppings = list(toppings)

	take[[]v1beta1.PizzaTopping](&out.ObjectMeta, v1beta1Toppings)
	if before, ok := take[[]string](&out.ObjectMeta, v1alpha1Toppings); ok && slices.Equal(count(before), toppings) {
		out.Spec.Toppings = before
	}
	if !slices.Equal(count(out.Spec.Toppings), toppings) {
		put(&out.ObjectMeta, v1beta1Toppings, toppings)
	}
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

// list returns each name as often as its quantity says. It takes what no schema admits, too:
// a quantity of 10⁹ must not take gigabytes, nor a name of megabytes twenty times as much.
// Then each name stands there once.
func list(toppings []v1beta1.PizzaTopping) []string {
	if toppings == nil {
		return nil
	}
	portions, valid := 0, true
	for _, topping := range toppings {
		portions += int(topping.Quantity)
		valid = valid && topping.Quantity > 0 && portions <= v1beta1.MaxQuantity && len(topping.Name) <= maxName
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

// put writes value into an annotation. If it does not fit, it is left out, and with it the
// order of a list: the API server refuses a converted object with too many annotations, and
// with it each list that has this object.
func put(meta *metav1.ObjectMeta, annotation string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // Strings and numbers can be written as JSON.
	}
	metav1.SetMetaDataAnnotation(meta, annotation, string(text))
	if validation.ValidateAnnotationsSize(meta.Annotations) != nil {
		remove(meta, annotation)
	}
}

// take removes an annotation and returns its value. Anybody can write one: a value that
// cannot be read is none.
func take[T any](meta *metav1.ObjectMeta, annotation string) (value T, ok bool) {
	text, ok := meta.Annotations[annotation]
	if !ok {
		return value, false
	}
	remove(meta, annotation)
	err := json.Unmarshal([]byte(text), &value)
	return value, err == nil
}

// remove leaves nil, not an empty map, as it was before put.
func remove(meta *metav1.ObjectMeta, annotation string) {
	delete(meta.Annotations, annotation)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
}
