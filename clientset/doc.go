// Package clientset sends Projects and Foos over the wire. It is what client-gen
// would generate: one REST client per API group, one file per resource, one method per verb.
//
// The packages under api declare the objects. Package informer lists and watches through this
// package, and package controller/foo writes through it.
//
// # Basics
//
//		client, err := clientset.NewForConfig(config)
//		foo, err := client.SamplecontrollerV1alpha1().Foos("default").Get(ctx, "example-foo", metav1.GetOptions{})
//
//	  - scheme.go encodes and decodes objects.
//	  - clientset.go creates an HTTP client and REST clients from a config.
//	  - project.go and foo.go have the verbs.
//
// All methods are safe for concurrent use. Check errors with apierrors.IsNotFound, apierrors.IsConflict
// and so on. Options are in the query string of a request, DeleteOptions in its body.
//
// # Limitations
//
//   - A failed call returns its error and a non-nil object, which is empty, or partly filled if the
//     response cannot be decoded. Only Watch, a call with a nil object, and an Apply without a name
//     return nil.
//   - A client made with an empty namespace lists and watches all namespaces. The other
//     verbs need a namespace.
//   - The Go types drop fields that they do not know. An Update by an older program
//     removes those fields from the object.
//   - Names and signatures are client-gen v0.37's: code for a generated clientset compiles with this.
package clientset
