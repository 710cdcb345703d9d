// Package testkit has what tests need of the world around the program: an API server in
// memory, and what can go wrong between a program and its API server, in memory or real.
//
//	program → Faults → APIServer          an API server in memory (also for the playground and chapters/apiserver)
//	program → Proxy (Faults) → a real one
//
// # The API server in memory
//
// It serves objects of any resource as a real one does: versions, UIDs, generations, conflicts,
// subresources, patches, finalizers, lists in pages and as a stream, watches with a history
// that can be compacted. TestTable plays one table of requests against it and against a real
// API server and compares codes, bodies and events. What differs:
//
//   - Nothing is encoded as anything but JSON, and no managedFields are kept: server-side
//     apply is refused.
//   - Of an object that is refused only the first reason is told as a real server tells it.
//   - A custom resource is pruned, defaulted and validated if its Resource has a Schema (package crd).
//   - Objects of built-in kinds get no defaults, except a Deployment's replicas, and only their labels, annotations
//     and owners are validated. Package builtin has the kinds that this package does not serve by itself.
//   - There are no tables: kubectl get shows the columns only of a real server.
//   - A dry run is an error.
//   - A Pod is gone at once when it is deleted. A namespace that is deleted stays, until a
//     test removes it.
//   - Nothing else acts, unless a test does what Garbage returns: no garbage collector, no
//     Deployment controller, nothing expires. The history is compacted when a test asks for
//     it. The only bookmark is the one that ends the list in a stream.
//   - A collection is deleted object by object. A name is generated from the version: no randomness.
//   - There are no users, no rights, no quotas and no webhooks. Faults plays what they do.
//   - A request for a version that is yet to come is refused at once, not after 3 s.
package testkit
