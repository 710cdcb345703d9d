// Package controller acts on Foos: a worker takes a key from a queue, a reconcile
// compares current with desired state, and each difference goes to the API server as
// one request.
//
// Its neighbours in the flow: package informer fills the stores that it reads and calls
// its handlers; it writes through package clientset (Deployments through client-go's
// own clientset).
//
// # Basics
//
// Read these first, in this order. example_test.go has the whole idea in 40 lines.
//
//   - handlers.go: an event of an object becomes a key in the queue.
//   - queue.go: the contract between queue, handlers and workers, and how long a key that
//     failed waits.
//   - controller.go: workers take keys, reconcile them and retry what failed.
//   - foo.go: Reconcile, one page.
//   - deployment.go: what a Foo's Deployment must be, and the writes that make it so.
//   - status.go: what the Foo's owner is told.
//
// Only the last three know Foos.
//
// A reconcile is level-triggered. The key says which Foo to look at, not what happened
// to it. An event that was missed, two that arrive as one, and one that arrives twice
// all end in the same state.
//
// # What production adds
//
// One file each, which begins with the timeline of what goes wrong without it.
//
//   - rename.go: after a change of the name the old Deployment is deleted.
//   - readyourwrites.go: a reconcile waits until the cache shows its own last writes.
//   - takeover.go: a new leader with a stale cache undoes nothing.
//   - priority.go: a change is not queued behind an initial list, a resync or retries.
//
// Leader election and metrics are in internal/leader and internal/metrics.
//
// # Properties
//
//   - One key is never reconciled twice at the same time.
//   - One difference costs one request, no difference none. A new Foo costs two, its
//     Deployment and its status, and each change of the replicas that the Deployment
//     reports one more. Events are requests, too, and are not counted here.
//   - A Deployment is written only if this Foo, by its UID, controls it. Nothing is
//     deleted while the Foo cannot have the Deployment that it names.
//   - A status is what the cache shows, and what a write in the same reconcile returned.
//     While a Foo is blocked, it counts the replicas of the Deployments that the Foo still
//     controls.
//   - When the API server refuses a write, the status repeats its message, the first one
//     for each generation. The write is retried like every other error, after at most
//     30 s. Not retried are an invalid spec, a name that is taken, and a Deployment that
//     is being deleted: an event adds the key again. Nor is a Deployment that the API server
//     refuses because the namespace is being deleted.
//   - A panic in a reconcile is an error of its key, retried like any other.
//
// # Deletion
//
// The controller deletes nothing when a Foo is deleted: the garbage collector does, by the
// owner reference. The request that deletes the Foo says how (propagationPolicy):
//
//   - Background, the default: the Foo is gone at once, its Deployment follows.
//   - Foreground: the Foo gets a deletionTimestamp and a finalizer, and is gone after its
//     Deployment, which blocks it (blockOwnerDeletion in the owner reference). So for a
//     moment there is a Foo without its Deployment. Reconcile must not create a new one:
//     the garbage collector would have to delete that, too, and the new one can block the
//     Foo again. So it does nothing for a Foo with a deletionTimestamp.
//   - Orphan: the Foo gets a deletionTimestamp and a finalizer, its Deployment loses the
//     owner reference and stays, then the Foo is gone.
//
// After each of these the watch of Deployments may be ahead of that of Foos: the store still
// has the Foo, and no Deployment. So a Foo that had one is read from the API server before it
// gets another.
//
// # Caveats
//
//   - Run one process at a time (--leader-elect). Two do no harm, because the API server
//     checks every write: the version, the UID, the name. But each sends everything.
//   - A rename reads the live Foo and then deletes the old Deployment. If somebody
//     renames the Foo back between these two requests, the Deployment that it names
//     again is deleted. The next reconcile creates it anew, with new Pods.
//   - takeover.go detects what another process wrote. A change of the spec that needs no
//     write (replicas removed, so that an autoscaler may set them) leaves no trace. A new
//     leader that does not see it yet sets the old number once more.
//   - The CRD must be the one of this repository. A status field that its schema does not
//     know is dropped, and then each reconcile writes the status again.
//   - Two Foos that swap their Deployments' names wait for each other: each keeps its
//     Deployment until the name it wants is free. A person must give one of them a third
//     name first.
//   - After 30 s a key no longer waits for the cache to show its writes. While a watch
//     is down for longer, a request may be sent that the API server refuses.
//   - The stores must be in sync (informer.WaitForSync) before Run: to an empty store,
//     every Deployment is missing.
package controller
