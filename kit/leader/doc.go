// Package leader lets one of several processes work at a time: the one that holds
// a Lease. It is client-go's leader election, with the parts that every user of it
// has to add by hand.
//
// # Basics
//
// Each process waits in Run. The one that gets the Lease works, and renews it every few
// seconds. When it ends well, it releases the Lease, and another process goes on at its next
// try. When it dies, the others see no renewal for a whole lease duration and one of them
// takes over.
//
// # What is added to client-go
//
//   - Two contexts. The signal that ends the work does not end the holding: the
//     Lease is released after the last worker has finished. (client-go's own
//     ReleaseOnCancel gives it away when the one context ends, and after a failed
//     renewal it may release what is another's by then.)
//   - OnlyWhileLeading: without a Lease that is valid, no reconcile begins. It counts from before
//     a renewal is sent. (client-go counts from the answer, and from a GET that shows the process
//     its own name.)
//   - A lease duration in whole seconds, which is what a Lease can store.
//
// # Caveats
//
//   - A Lease alone does not keep two processes apart. A leader that is cut off, or was frozen and
//     thaws, begins no reconcile once another can have the Lease (OnlyWhileLeading), and ends
//     when it has tried to renew for a renew deadline (10 s). But a reconcile that had begun goes
//     on (in this program for 30 s at most).
//     Then the API server protects the objects, as for every controller of
//     Kubernetes: it refuses a version that is not the newest, a name that exists, and a UID
//     that has changed.
//   - Optimistic locking alone would not be enough: of two watches one may be behind. The
//     frozen leader then sees the newest Deployment and the Foo of before, and writes the Foo's old
//     number into it. The version is right, the number is not.
//   - The leader and the others count by monotonic clocks, which stand still while a machine
//     sleeps. A leader that slept knows it only when it renews, and until then it begins
//     reconciles: for a retry period (2 s), or for the rest of its lease duration (15 s) if it
//     cannot reach the API server.
//   - Who deletes the Lease, or edits it, lets another process begin at once. The leader sees that
//     when it renews: it creates one that is gone, takes one that names nobody, and ends if
//     another has it.
package leader
