// Package v1alpha1 is version v1alpha1 of the API group
// samplecontroller.k8s.io. It holds one kind, Foo: "run a Deployment of this
// name with that many replicas".
//
// # Basics
//
// This package has the same files as api/examples-gzh.com/v1alpha1; their comments apply here, too.
// Foo adds an optional field, which is a pointer, and a status with a list. DeepCopy must copy both.
//
// # Limitations
//
// Foo is the Foo of Kubernetes' own sample-controller, whose manifests and generated client work
// with the CRD of this repository. In sample-controller, FooStatus has only availableReplicas.
package v1alpha1
