package main

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// PizzaPrice is the answer of GET pizzas/NAME/price. It is stored nowhere. A
// CustomResourceDefinition can have two subresources, status and scale, and none of its own.
type PizzaPrice struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	// Cents is the sum of all portions.
	Cents int64 `json:"cents"`
}

// price adds up what is on a pizza. All costs are of one moment: no write comes between.
func (s *server) price(w *answerWriter, r *request) (err error) {
	answer := PizzaPrice{TypeMeta: typeMeta("PizzaPrice", r.version)}
	s.storage.read(func(revision int64, all map[key]object) {
		pizza, ok := all[r.key()].(*v1beta1.Pizza)
		if !ok {
			err = apierrors.NewNotFound(r.groupResource(), r.name)
			return
		}
		answer.ObjectMeta = metav1.ObjectMeta{Namespace: r.namespace, Name: r.name, UID: pizza.UID, ResourceVersion: strconv.FormatInt(revision, 10)}
		for _, portion := range pizza.Spec.Toppings {
			// It is there: it is in use.
			topping := all[toppingKey(portion.Name)].(*v1beta1.Topping)
			answer.Cents += int64(portion.Quantity) * int64(topping.Spec.Cost)
		}
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, answer)
}

func toppingKey(name string) key { return key{Resource: toppings.resource, Name: name} }
