// Package schema holds the tests that keep the CustomResourceDefinitions in
// config/crd and the Go types in api in step. controller-gen would write the
// definitions from the types; by hand, somebody has to look.
package schema
