// Package schema holds the tests that look at a kind as a whole: that it stands
// wherever a kind must stand (CONTRIBUTING.md shows each place), and that the
// CustomResourceDefinitions in config/crd, the Go types in api and their apply
// configurations are in step. Generators would write all of them from the types; by
// hand, a test has to look.
package schema
