// Package v1alpha1 is version v1alpha1 of the API group examples-gzh.com. It
// holds one kind, Project.
//
// The folder api/examples-gzh.com/v1alpha1 spells the address: the API server
// serves these objects below /apis/examples-gzh.com/v1alpha1.
//
// # Basics
//
// Four files make an API group, and code generators usually write two of them:
//
//   - types.go says what a Project is. The json tags are the wire format.
//   - deepcopy.go copies one, pointer by pointer (deepcopy-gen's job).
//   - register.go tells a runtime.Scheme which Go type answers to which kind.
//   - doc.go is this page.
//
// The neighbour that sends these types over the wire is package clientset.
//
// # Caveats
//
// The group is examples-gzh.com, with an s. A client that asks for
// example-gzh.com gets 404 for every request, because a group that nobody
// installed is simply another URL; that is why the name stands in one constant,
// GroupName, and nowhere else in Go.
package v1alpha1
