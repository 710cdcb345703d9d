// Package leader lets one of several processes work at a time: the one that holds
// a Lease. It is client-go's leader election, with the parts that every user of it
// has to add by hand.
//
// # Basics
//
// Each process keeps its stores warm from the start and waits in Run. The holder
// renews the Lease every few seconds. When it ends well, it gives the Lease away
// and another process goes on at once. When it dies, the others see no renewal for
// a whole lease duration and one of them takes over.
//
// # What is added to client-go
//
//   - Two contexts. The signal that ends the work does not end the holding: the
//     Lease is given away after the last worker has finished. (client-go's own
//     ReleaseOnCancel gives it away when the one context ends, and after a failed
//     renewal it may give away what is another's by then.)
//   - A holder that sees another's name in the Lease stops at once. client-go would
//     go on trying for a renew deadline.
//   - A process that was frozen, or whose clock for renewals has run out, does not
//     work on: each reconcile needs a Lease that is still valid, and its requests
//     end when the Lease does.
//
// # Caveats
//
// A request that has left cannot be called back, so a Lease alone does not keep
// two processes apart. What does is the API server: it refuses a version that is
// not the newest, a name that exists, and a UID that has changed.
package leader
