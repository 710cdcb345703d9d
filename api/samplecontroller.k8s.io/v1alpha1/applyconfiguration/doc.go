// Package applyconfiguration holds the types of a server-side apply of Foos.
//
// An apply request says "these fields are mine, with these values", and says
// nothing of all others. The types in types.go cannot say nothing: a number that
// nobody set is 0, and would be sent. Here every field is a pointer or a slice,
// nil is not sent, and setters return their receiver, so that a request reads as
// one sentence:
//
//	Foo("example-foo", "default").WithSpec(FooSpec().WithReplicas(3))
//
// applyconfiguration-gen writes the same with more words per setter.
package applyconfiguration
