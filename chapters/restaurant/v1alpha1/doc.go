// Package v1alpha1 is the first version of the restaurant: the toppings of a Pizza are a
// list of names.
//
// Its neighbours: package v1beta1 is the second version, package conversion changes one
// into the other. The chapters admission and versions use all three.
package v1alpha1
