package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Pizza is an order of one pizza.
type Pizza struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PizzaSpec `json:"spec"`
}

// PizzaSpec says what is on a pizza.
type PizzaSpec struct {
	// Toppings are the names of Toppings, from the bottom up. One that is named twice is on
	// the pizza twice. An empty list becomes tomato, mozzarella and salami.
	//
	// omitzero leaves nil out and keeps [], as a copy and a conversion do.
	Toppings []string `json:"toppings,omitzero"`
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
