// Package leader lets one of several processes work at a time: the process that holds a Lease. It is
// client-go's leader election, with the parts that each user has to add.
//
// # Basics
//
// Each process waits in Run. The leader holds the Lease and renews it every few seconds. When it
// exits, it releases the Lease, and another process takes over at its next attempt. When it is
// killed, the others wait for a lease duration without a renewal, and one of them takes over.
//
// # Additions to client-go
//
//   - Two contexts. A signal ends the work, but not the Lease, which is released after the last
//     worker has finished. client-go's ReleaseOnCancel releases it when its only context ends, and
//     after a failed renewal it may clear a Lease that another process holds by then.
//   - OnlyWhileLeading: no reconcile starts without a valid Lease. The lease duration starts
//     when a renewal is sent. client-go starts it at the response, and restarts it when a GET shows this
//     process as the holder.
//   - A lease duration in whole seconds, because a Lease stores whole seconds.
//
// # Limitations
//
//   - A Lease does not exclude two processes strictly. A leader that was cut off or frozen starts no
//     reconcile once another process can hold the Lease, and exits after a renew deadline (10 s)
//     without a renewal. A running reconcile continues, in this program for at most 30 s. The API
//     server protects the objects meanwhile, as for every controller: it rejects an old
//     resourceVersion, an existing name, and a changed UID.
//   - Optimistic locking alone is not enough, because one of two watches may be behind. A frozen
//     leader may then have the newest Deployment and an old Foo, and write the Foo's old replicas with
//     a valid resourceVersion.
//   - The processes use monotonic clocks, which stop while a machine is suspended. A leader that was
//     suspended notices that only when it renews. Until then it starts reconciles: for a retry
//     period (2 s), or for the rest of its lease duration (15 s) if it cannot reach the API server.
//   - Deleting or editing the Lease lets another process start at once. The leader notices it when it
//     renews: it creates a missing Lease, takes one without a holder, and exits if another process
//     holds it.
package leader
