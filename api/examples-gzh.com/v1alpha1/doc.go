// Package v1alpha1 is version v1alpha1 of the API group examples-gzh.com. It
// holds one kind, Project.
//
// The folder is the address: the API server serves these objects below
// /apis/examples-gzh.com/v1alpha1.
//
// # Basics
//
// Three files make an API group.
//
//   - types.go says what a Project is. The json tags are the wire format.
//   - deepcopy.go copies one, pointer by pointer. deepcopy-gen usually writes it.
//   - register.go enters the types into a scheme. A scheme is a table that says which
//     Go type stands for which group, version and kind (GVK in Go identifiers).
//
// Package clientset sends these types over the wire.
//
// # Caveats
//
// The group is examples-gzh.com, with an s. A client that asks for example-gzh.com
// gets 404 for every request: a group that is not installed is simply another URL.
// So the program has the name in one constant, GroupName.
//
// A manifest that says replica instead of replicas sets no field: kubectl, which asks for strict
// validation, refuses it by that name, other clients may not. Then a controller sees 0. So the
// schema requires a Project's replicas, and a Foo's are a pointer: missing is not 0.
package v1alpha1
