// Package leader lets one of several processes work at a time: the one that holds
// a Lease. It is client-go's leader election, with the parts that every user of it
// has to add by hand.
//
// # Basics
//
// Each process waits in Run. The one that gets the Lease works, and renews it every few
// seconds. When it ends well, it gives the Lease away and another process goes on at its next
// try. When it dies, the others see no renewal for a whole lease duration and one of them
// takes over.
//
// # What is added to client-go
//
//   - Two contexts. The signal that ends the work does not end the holding: the
//     Lease is given away after the last worker has finished. (client-go's own
//     ReleaseOnCancel gives it away when the one context ends, and after a failed
//     renewal it may give away what is another's by then.)
//   - A lease duration in whole seconds, which is what a Lease can store.
//
// # Caveats
//
//   - A Lease alone does not keep two processes apart. A leader that cannot renew goes on
//     trying for a renew deadline (10 s), even when the Lease names another process, and its
//     reconciles go on meanwhile. So a process that was frozen and thaws may work that long
//     beside the new leader. What protects objects is the API server, as for every
//     controller of Kubernetes: it refuses a version that is not the newest, a name that
//     exists, and a UID that has changed.
//   - The leader and the others count by monotonic clocks, which stand still while a machine
//     sleeps. A leader that slept knows it only when it renews.
package leader
