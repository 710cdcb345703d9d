// Command dynamic gets objects of any kind by any word that kubectl understands, with
// no Go type for them: discovery, RESTMapper, client and codec by hand.
//
//	cd chapters && go run ./dynamic --kubeconfig FILE get foos --watch
//
// Its neighbours: package clientset of the core has a method for each verb of each kind
// that it knows when it is compiled. This program has one method for each verb, and asks
// the server for the kinds when it runs.
//
// # Basics
//
// An object has three names, and three registries lead from one to another:
//
//   - A Go type, such as *v1alpha1.Foo. A Scheme maps it to a GVK, and back. It is filled
//     when a program is compiled, and knows no server (codec.go).
//   - A GVK: group, version and kind, such as samplecontroller.k8s.io/v1alpha1, Foo. It
//     says what an object is; each object has it, in apiVersion and kind.
//   - A GVR: group, version and resource, such as samplecontroller.k8s.io/v1alpha1, foos.
//     It says where objects are; each URL has it. Discovery lists the GVRs of a server,
//     each with its GVK (discovery.go).
//
// A RESTMapper finds both for a word that a person types. It is made from what discovery
// has listed (mapper.go). It cannot be computed: the plural of a kind is whatever its CRD
// says.
//
// Each request is on stderr before it is sent, so that stdout has the result alone. What
// is printed there can be asked again: dynamic raw PATH.
//
// # Caveats
//
//   - Discovery is two requests in each run. kubectl keeps the answers in ~/.kube/cache for
//     six hours, and asks again when it meets a word that is not in them.
//   - A watch ends when the server ends it, after 30 to 60 minutes. Package informer of the
//     core goes on.
//   - An int in an Unstructured is a panic, later, in DeepCopy. Use int64 (get.go).
package main
