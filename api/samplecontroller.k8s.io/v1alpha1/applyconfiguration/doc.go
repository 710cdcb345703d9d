// Package applyconfiguration holds the types of a server-side apply of Foos.
//
// An apply request sets the fields that it has, makes the caller their owner, and leaves
// all others alone. The types in types.go cannot leave a field out: a number that is not
// set is 0, and would be sent. Here every field is a pointer or a slice, and nil is not
// sent. Setters return their receiver, so that calls can be chained:
//
//	Foo("example-foo", "default").WithSpec(FooSpec().WithReplicas(3))
//
// applyconfiguration-gen generates the same, and setters for what an API server ignores.
package applyconfiguration
