package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Pizza is an order of one pizza.
type Pizza struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PizzaSpec `json:"spec"`
}

// PizzaSpec describes a pizza.
type PizzaSpec struct {
	// Toppings are the names of Toppings, from the bottom up. A name that occurs twice is on
	// the pizza twice. An empty list becomes tomato, mozzarella and salami.
	//
	// omitzero omits nil and keeps [], like a copy and a conversion.
	Toppings []string `json:"toppings,omitzero"`
}

// Topping is an ingredient for pizzas. It is cluster-scoped.
type Topping struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ToppingSpec `json:"spec"`
}

// ToppingSpec describes a topping.
type ToppingSpec struct {
	// Cost is the price of one portion, in cents.
	Cost int32 `json:"cost"`
}

// ToppingList is the response to a list request.
type ToppingList struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Topping `json:"items"`
}
