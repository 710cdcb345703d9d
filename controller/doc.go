// Package controller acts on Foos: keys come out of a queue, a reconcile compares
// what is with what should be, and each difference goes back to the API server as
// one request.
//
// Its neighbours in the flow: package informer fills the stores that it reads and
// calls its handlers; it writes through package clientset (Deployments through
// client-go's own clientset).
//
// # Basics
//
//   - handlers.go: a change of a Foo or a Deployment becomes a key in the queue.
//   - queue.go: in which order keys wait, and how long one that failed.
//   - controller.go: workers take keys out and retry what fails. Like the queue, it
//     knows nothing of Foos.
//   - foo.go: the reconcile, one page, in the order in which it decides.
//   - deployment.go and status.go: pure functions, what should be.
//   - ownwrites.go: what this process wrote and has not yet seen come back.
//   - stale.go: what another process wrote and this one has not yet seen.
//
// A reconcile is level-driven. The key says which Foo to look at, never what
// happened to it, so a change that nobody heard of, two that arrive as one, and
// one that arrives twice all end in the same place.
//
// # Properties
//
//   - One key is never reconciled twice at the same time.
//   - One difference costs one request; none costs none. A new Foo costs two: its
//     Deployment and its status.
//   - A Deployment that this Foo's UID does not control is never written.
//   - A reconcile does not act on a store that is older than its own last write, nor
//     on a Foo that is older than its Deployment or the other way round: a process
//     that takes over undoes nothing.
//   - A change does not wait for a first list, a resync, or keys that failed.
//   - A panic in a reconcile is an error of its key, retried like any other.
//
// # Caveats
//
//   - Run one process at a time (--leader-elect sees to that). The API server checks
//     every write (a version, a UID, a name that is taken), so two processes do no
//     harm, but they send everything twice.
//   - Two Foos that swap their Deployments' names wait for each other: each keeps
//     what it has until the name it wants is free. A person has to delete one.
//   - Half a minute after a write that its store does not show, a key is reconciled
//     on the store's word. While a watch is down that long, a request may be sent
//     that the API server refuses.
//   - The stores must be in sync (informer.WaitForSync) before Run: to an empty
//     store, every Deployment is missing.
package controller
