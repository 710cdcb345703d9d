// Package v1alpha1 is version v1alpha1 of the API group
// samplecontroller.k8s.io. It holds one kind, Foo: "run a Deployment of this
// name with that many replicas".
//
// # Basics
//
// The same four files as in api/examples-gzh.com/v1alpha1; compare them side by
// side. Foo adds what Project lacks: an optional field (a pointer), a status
// with a list, and so a deepcopy.go that has something to do.
//
// # Caveats
//
// Foo is the Foo of Kubernetes' own sample-controller, field by field: its
// example manifest and its generated client work against our
// CustomResourceDefinition. The fields that FooStatus has beyond
// availableReplicas are additions, which a client that does not know them
// ignores.
package v1alpha1
