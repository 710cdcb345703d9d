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
//   - failures.go: what failed waits for its back-off, also when an event adds the key, and
//     an error that lasts is told.
//   - priority.go: a change is not queued behind what did not change (an initial list, a
//     relist, a resync), a retry or a wait for the cache.
//
// Leader election and metrics are in internal/leader and internal/metrics. A process starts
// its informers when it leads, and their first list is the newest (informer/informer.go). So
// it begins with what the leader before it has written, and the objects need no marks of who
// has seen what.
//
// # Properties
//
//   - One key is never reconciled twice at the same time.
//   - One difference costs one write, no difference no request. A new Foo costs two, its
//     Deployment and its status, and each change of the replicas that the Deployment
//     reports one more. Events are not counted here. Before a DELETE, and before a POST for
//     a Foo that has a status and no Deployment, the Foo is read from the API server.
//   - A Deployment is written only if this Foo, by its UID, controls it. Nothing is
//     deleted while the Foo cannot have the Deployment that it names.
//   - A status has the numbers that the cache shows, or that a write in the same reconcile
//     returned: those of the Deployment that the Foo names or, while it does not control
//     that, of those that it controls under earlier names.
//   - When the API server refuses a write, the condition repeats its message at once. When it
//     stores another value than was sent, the condition names the field. An error of another
//     kind, such as a webhook that does not answer, is told by the first attempt 10 s after it
//     began. Each records one Event, and one more when its message differs in more than
//     numbers. All are retried, after at most 30 s.
//   - Not retried are an invalid spec, a name that is taken, and a Deployment that is being
//     deleted: an event adds the key again. Nor is a Deployment that the API server refuses
//     because the namespace is being deleted.
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
// has the Foo, and no Deployment. So a Foo that has a status is read from the API server before
// it gets a Deployment.
//
// # Caveats
//
//   - Run one process at a time (--leader-elect). Two do no harm, because the API server
//     checks every write: the version, the UID, the name. But each sends everything.
//   - A rename reads the live Foo and then deletes the old Deployment. If a person
//     renames the Foo back between these two requests, the Deployment that it names
//     again is deleted. The next reconcile creates it anew, with new Pods.
//   - The CRD must be the one of this repository. A status field that its schema does not
//     know is dropped: then each reconcile writes the status again, and fails.
//   - Two Foos that swap their Deployments' names wait for each other: each keeps its
//     Deployment until the name it wants is free. A person must give one of them a third
//     name first.
//   - The status of a Foo that is being deleted is not updated.
//   - An update sends the whole Deployment. A field that this version of client-go does not
//     know, set on a newer cluster, is lost with it.
//   - Another controller that sets the same field back makes a write and an Event with each
//     round, without a back-off: each write succeeds.
//   - A Deployment that was copied with its owner reference is one that the Foo controls under
//     another name: it is deleted.
//   - While a watch is down, a key whose last write it has not shown is not reconciled. When
//     a backup of etcd is restored, the versions go back: restart the controller, as
//     Kubernetes asks for all components.
//   - The stores must be in sync (informer.WaitForSync) before Run: to an empty store,
//     every Deployment is missing.
package controller
