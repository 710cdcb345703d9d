// Package v1beta1 is the restaurant's second version: each topping of a Pizza has a quantity.
// Toppings are the same in both versions, so their Go type is v1alpha1's.
//
// Package v1alpha1 is the first version, package conversion converts between them.
package v1beta1
