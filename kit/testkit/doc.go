// Package testkit simulates the environment of a controller in tests: an API server in memory, and the
// faults that occur between a program and its API server, in memory or real.
//
//	program → Faults → APIServer          an API server in memory (also for the playground and chapters/apiserver)
//	program → Proxy (Faults) → a real one
//
// # The API server in memory
//
// It serves objects of any resource as a real one does: versions, UIDs, generations, conflicts,
// subresources, patches, finalizers, lists in pages and as a stream, watches with a history
// that can be compacted. TestTable plays one table of requests against it and against a real
// API server and compares codes, bodies and events. Differences:
//
//   - Responses are always JSON, without tables: kubectl get shows columns only with a real server. managedFields
//     are not kept. Server-side apply, dry runs and DELETE of a collection are rejected.
//   - A client that accepts PartialObjectMetadata or its List gets the one that fits the URL. A real server answers a
//     wrong choice with 406 or 500.
//   - Only the first cause of a rejection is the same as a real server's.
//   - A custom resource is pruned, defaulted and validated if its Resource has a Schema. Package crd makes one from
//     a CustomResourceDefinition with one served version. Without a Schema any object with valid metadata is stored.
//   - Objects of built-in kinds get no defaults, except a Deployment's replicas, and only their metadata is
//     validated. Package builtin has all other built-in kinds.
//   - A deleted Pod disappears at once. A deleted namespace stays until a test removes it.
//   - No controllers run: no garbage collection (a test can apply what Garbage returns), no rollouts, no
//     expiry. Only a test compacts the history. The only bookmark is the one that ends a streaming list.
//   - A generated name comes from the version and is not random.
//   - There are no users, permissions, quotas or webhooks. Faults can simulate their effects.
//   - A request for a future version is rejected at once, not after 3 s.
package testkit
