// Package v1alpha1 is version v1alpha1 of the API group examples-gzh.com. It
// holds one kind, Project.
//
// The folder name is the URL path: the API server serves these objects under
// /apis/examples-gzh.com/v1alpha1.
//
// # Basics
//
//   - types.go declares a Project. The json tags are the wire format.
//   - deepcopy.go copies a Project. deepcopy-gen usually writes it.
//   - register.go registers the types in a scheme, which maps a group, version and kind (GVK in
//     Go identifiers) to a Go type.
//
// Package clientset sends these types over the wire.
//
// # Limitations
//
// The group is examples-gzh.com, with an s. The server answers requests for example-gzh.com with 404:
// it cannot tell a missing group from a wrong URL. So the program has the name once, in GroupName.
//
// A manifest may contain a typo: replica instead of replicas. kubectl requests strict validation, so the
// server rejects it. For clients that do not request it, the server drops the field. So the schema
// requires replicas in a Project. In a Foo, Replicas is a pointer: missing is different from 0.
package v1alpha1
