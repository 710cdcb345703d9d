// Package schema holds the tests that look at a kind as a whole: that it stands
// wherever a kind must stand (CONTRIBUTING.md shows each place), and that the
// CustomResourceDefinitions in config/crd, the Go types in api and their apply
// configurations are in step. Generators would write all of them from the types; by
// hand, somebody has to look. It also looks at the words: that the README's reading path
// explains each one before it uses it, and that its translation is in step.
package schema
