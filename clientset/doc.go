// Package clientset sends Projects and Foos over the wire. It is what client-gen
// would generate, written by hand: one REST client per API group, one file per
// resource, every verb spelled out down to its URL.
//
// Its neighbours in the flow: package api says what the objects are, package
// informer lists and watches through this package, package controller writes
// through it.
//
// # Basics
//
//	client, err := clientset.NewForConfig(config)
//	foo, err := client.SamplecontrollerV1alpha1().Foos("default").Get(ctx, "example-foo", metav1.GetOptions{})
//
// Read scheme.go (which type has which wire name), clientset.go (config → HTTP
// client → REST client) and project.go (the verbs). Then compare foo.go with
// project.go: what differs is all that a second resource costs.
//
// Every method takes its context first and its options last, may be called by
// many goroutines at once, and returns the API server's refusals as
// *errors.StatusError: ask apierrors.IsNotFound(err), IsConflict(err) and their
// siblings. Options travel in the query string, DeleteOptions in the body.
//
// # Caveats
//
//   - The object that a refused call returns beside its error is empty, not nil.
//     Only a call that cannot be sent, for want of an object, returns nil.
//   - A client made with an empty namespace lists and watches all namespaces.
//     Other verbs need the namespace.
//   - A returned object is the caller's own and may be changed. An object that
//     comes out of an informer's store is everybody's and may not.
//   - rest.Config limits requests on the client side unless QPS is negative: 5
//     per second by default, whatever the server could bear.
//   - The shapes (Interface, the getters, the method signatures) are those that
//     client-gen emits for v0.37, so code written against a generated clientset's
//     Interface compiles against this one.
package clientset
