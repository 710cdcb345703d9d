package main

import (
	"fmt"
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
func (s *server) price(w *answerWriter, r *request) error {
	answer := PizzaPrice{TypeMeta: typeMeta("PizzaPrice", r.kind.gvk(r.version).GroupVersion())}
	err := s.storage.read(func(revision int64, all map[key]object) error {
		pizza, ok := all[r.key()].(*v1beta1.Pizza)
		if !ok {
			return apierrors.NewNotFound(r.groupResource(), r.name)
		}
		answer.ObjectMeta = metav1.ObjectMeta{Namespace: r.namespace, Name: r.name, UID: pizza.UID, ResourceVersion: strconv.FormatInt(revision, 10)}
		for _, portion := range pizza.Spec.Toppings {
			topping, ok := all[toppingKey(portion.Name)].(*v1beta1.Topping)
			if !ok {
				return apierrors.NewInternalError(fmt.Errorf("there is no topping %q, and it is in use", portion.Name))
			}
			answer.Cents += int64(portion.Quantity) * int64(topping.Spec.Cost)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, answer)
}

func toppingKey(name string) key { return key{resource: "toppings", name: name} }
