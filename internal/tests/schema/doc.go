// Package schema holds the tests of our kinds against their CustomResourceDefinitions: that
// config/crd, the Go types in api and their apply configurations are in step, and that a kind
// is in each list of kinds (CONTRIBUTING.md shows each place). Generators would write all of them from the types; by
// hand, a test has to look.
package schema
