package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Pizza is an order of one pizza.
type Pizza struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PizzaSpec `json:"spec"`
}

// PizzaSpec describes a pizza.
type PizzaSpec struct {
	// Toppings are on the pizza from the bottom up, each name once. An empty list becomes
	// tomato, mozzarella and salami.
	//
	// omitzero omits nil and keeps [], like a copy and a conversion.
	Toppings []PizzaTopping `json:"toppings,omitzero"`
}

// PizzaTopping is one topping of a pizza.
type PizzaTopping struct {
	// Name is a Topping's name.
	Name string `json:"name"`
	// Quantity is the number of portions, 1 to MaxQuantity.
	Quantity int32 `json:"quantity"`
}

// MaxQuantity is the maximum number of portions on a pizza, of all toppings together. The schema
// enforces it, and the conversion needs a limit: v1alpha1 has a string for each portion.
const MaxQuantity = 20
