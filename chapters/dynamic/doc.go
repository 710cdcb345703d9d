// Command dynamic gets objects of any kind by any word that kubectl accepts, without a Go
// type: discovery, RESTMapper, client and codec by hand.
//
//	cd chapters && go run ./dynamic --kubeconfig FILE get foos --watch
//
// Compare the core's package clientset: it has a method for each verb of each kind, and the kinds
// are fixed at compile time. This program has one method for each verb, and asks the server
// for the kinds at run time.
//
// # Basics
//
// An object has three names, and three registries map between them:
//
//   - A Go type, such as *v1alpha1.Foo. A Scheme maps it to a GVK, and back. It is filled
//     at compile time, independent of any server (codec.go).
//   - A GVK: group, version and kind, such as samplecontroller.k8s.io/v1alpha1, Foo. It
//     identifies the type of an object; each object has it, in apiVersion and kind.
//   - A GVR: group, version and resource, such as samplecontroller.k8s.io/v1alpha1, foos.
//     It locates objects; each URL has it. Discovery lists a server's GVRs, each with its
//     GVK (discovery.go).
//
// A RESTMapper maps a word to a GVK and a GVR. It is built from discovery (mapper.go). The
// mapping cannot be computed: a CRD chooses its plural freely.
//
// stderr has each request before it is sent, stdout only the result. Run a printed request
// again with: dynamic raw PATH.
//
// # Limitations
//
//   - Each run sends two discovery requests. kubectl caches the responses in ~/.kube/cache for
//     six hours, and repeats discovery for an unknown word.
//   - A watch ends when the server ends it, after 30 to 60 minutes. The core's package
//     informer resumes.
//   - An int in an Unstructured panics later, in DeepCopy. Use int64 (get.go).
package main
