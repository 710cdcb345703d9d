// Package applyconfiguration holds the types of a server-side apply of Foos.
//
// An apply request sets the fields that it has, makes the caller their owner, and leaves
// all others alone. The types in types.go cannot leave a field out: a number that is not
// set is 0, and would be sent. Here every field is a pointer or a slice, and nil is not
// sent:
//
//	config := Foo("example-foo", "default")
//	config.Spec = &FooSpecApplyConfiguration{Replicas: new(int32(3))}
//
// applyconfiguration-gen generates the same, and a setter for each field. Before Go 1.26,
// whose new takes a value, a pointer to 3 needed a variable.
package applyconfiguration
