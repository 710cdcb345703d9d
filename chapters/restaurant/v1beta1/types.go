package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// Pizza is an order of one pizza.
type Pizza struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PizzaSpec `json:"spec"`
}

// PizzaSpec says what is on a pizza.
type PizzaSpec struct {
	// Toppings are on the pizza from the bottom up, each name once. An empty list becomes
	// tomato, mozzarella and salami.
	//
	// omitzero leaves nil out and keeps [], as a copy and a conversion do.
	Toppings []PizzaTopping `json:"toppings,omitzero"`
}

// PizzaTopping is one of the toppings of a pizza.
type PizzaTopping struct {
	// Name is that of a Topping.
	Name string `json:"name"`
	// Quantity is how many portions, 1 to MaxQuantity.
	Quantity int32 `json:"quantity"`
}

// MaxQuantity is how many portions a pizza has at most, all toppings together. The schema
// says so, and the conversion needs it: v1alpha1 has a string for each portion.
const MaxQuantity = 20

// Topping and ToppingSpec are the same in both versions.
type (
	Topping     = v1alpha1.Topping
	ToppingSpec = v1alpha1.ToppingSpec
)
