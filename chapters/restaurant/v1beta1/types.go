package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// PizzaList is the reply to a list request.
type PizzaList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Pizza `json:"items"`
}

// Topping is what a pizza may have on it. It belongs to no namespace.
type Topping struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ToppingSpec `json:"spec"`
}

// ToppingSpec says what a topping is.
type ToppingSpec struct {
	// Cost is what one portion costs, in cents.
	Cost int32 `json:"cost"`
}

// ToppingList is the reply to a list request.
type ToppingList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Topping `json:"items"`
}
