// Package v1alpha1 is the restaurant's first version: a Pizza's toppings are a list of names.
//
// Package v1beta1 is the second version, package conversion converts between them. The
// chapters admission and versions use these packages.
package v1alpha1
