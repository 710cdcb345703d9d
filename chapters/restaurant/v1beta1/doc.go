// Package v1beta1 is the second version of the restaurant: each topping of a Pizza has a
// quantity. It is the hub: chapters compare and decide in this version alone.
//
// Its neighbours: package v1alpha1 is the first version, package conversion changes one
// into the other.
package v1beta1
