// Package foo reconciles Foos: it compares their current with their desired state, and sends each
// difference to the API server as one request.
//
// Its neighbours in the flow: package controller calls it with the key of a Foo; it reads the
// stores of package informer, and writes through package clientset (Deployments through
// client-go's own clientset).
//
// What a reconcile does in each state, and what that costs, is the table of README.md ("What the
// reconcile does").
//
// # Deletion
//
// The controller deletes nothing when a Foo is deleted: the garbage collector does, by the
// owner reference. The request that deletes the Foo says how (propagationPolicy):
//
//   - Background, the default: the Foo is gone at once, its Deployment follows.
//   - Foreground: the Foo gets a deletionTimestamp and a finalizer, and is gone after its
//     Deployment, which blocks it (blockOwnerDeletion in the owner reference). So for a
//     moment there is a Foo without its Deployment. A new one would block the Foo again. So
//     Reconcile does nothing for a Foo with a deletionTimestamp.
//   - Orphan: the Foo gets a deletionTimestamp and a finalizer, its Deployment loses the
//     owner reference and stays, then the Foo is gone.
//
// After each of these the watch of Deployments may be ahead of that of Foos: the store still
// has the Foo, and no Deployment. So a Foo is read from the API server before it gets one, unless
// it has no condition and no Deployment, its spec was never changed, and no write for it has failed: a
// new Foo. A Foo that is gone and whose status could never be written, or was emptied, may pass for a new
// one, once in an hour. The garbage collector deletes what it gets.
//
// # Caveats
//
//   - Run one process at a time (--leader-elect). With two, each sends everything. The API
//     server checks every write: the version, the UID, the name.
//   - If a webhook gives a new Deployment another number, and the Foo has none, that is its number.
//   - While an old Deployment is not deleted, such as when that is refused, the new one of a Foo without a
//     number is not left with fewer replicas: it follows the old one up and not down, and nobody can set a
//     lower number. If a webhook does, the old one stays. Named back, a Deployment keeps the number that it has.
//   - A rename is no rolling update: the old Deployment goes when the new one exists, with other Pods
//     that may not run yet, or never.
//   - A rename reads the live Foo and its new Deployment, and then deletes the old one. If
//     between these requests a person renames the Foo back, or the new Deployment is deleted or
//     loses its owner, the Foo has none for a moment. The next reconcile creates it, with new Pods.
//   - Nobody knows of a write that it will hang before it has. When writes begin to hang in one
//     namespace, a Foo elsewhere waits for a worker as long as one of them takes, until each has failed
//     once: with 500 new Foos that is for five minutes. When they begin in hundreds of namespaces, it
//     waits for minutes.
//   - A Foo of which a reconcile was slow within the hour, or has failed within the minute, waits among
//     all of these, and the namespaces take turns. A thousand that hang, in its own namespace or one in
//     each of a thousand others, take 20 minutes. Of more than 9,600 that hang each failure is forgotten
//     before the next try.
//   - The writes of Deployments in one reconcile have 15 s together. One that fails because others took
//     the time is tried again by itself. A webhook that takes longer than 15 s lets none through, although
//     it says yes.
//   - If a webhook gives a Deployment another name, the Foo's is deleted again. If that fails, or the
//     webhook takes the owner, too, it stays, and each try leaves one more: a minute after the first,
//     then after as long again as it has lasted, an hour at most, and at once after each change of the
//     spec. Nobody knows of one whose answer is lost.
//   - If a webhook takes the owner from a new Deployment, an Event says so once. Then the Deployment is
//     one without a controller, as if somebody else had made it: the condition says NameTaken, and it stays
//     when the Foo goes. Its selector has the Foo's UID.
//   - The whole text of a refusal is kept until its write is looked at after its back-off, or 50,000
//     others have come. If more than some 15,000 Foos fail at the same time, failures are forgotten.
//   - A webhook that serves several policies is one cause, and so are all missing rights to one
//     request, and all that a Pod lacks but a quota. If another of them denies, also after a
//     success, the condition says so at the first event or resync after five minutes, and no Event does.
//   - A webhook may deny with any code. With 404 or 409 it passes for a race: the condition says
//     RequestFailed, after 10 s.
//   - An Event that is dropped (internal/events) is not sent again while its cause goes on, and
//     another name that is taken is no other cause: the condition tells. All namespaces share the
//     limit: one with a new cause each 100 ms silences the others.
//   - That a status cannot be written stands in the log alone. The Event of a
//     cause is sent before the status. So a Foo that the cache still has may get one that is not true
//     any more, as when it was deleted and its Deployment is kept.
//   - A Foo whose status somebody empties, and whose Deployment he deletes, passes for a new one unless its
//     spec was ever changed: it gets both again at once, each time.
//   - A Foo that waits for a name hears of the Deployment that has it, not of that one's Foo. If that
//     Foo goes and the garbage collector does nothing, the condition names it until the next resync.
//   - All Deployments and Projects are in memory, whole, whoever made them (--namespace).
//   - After etcd is restored from an older copy, start the program again. Until then it may hear of no
//     change, and give a Deployment what its Foo does not ask for any more. Nothing tells of it.
//   - The CRD must be the one of this repository. A status field that its schema does not
//     know is dropped: then each reconcile writes the status again, and fails.
//   - Two Foos that swap their Deployments' names wait for each other: each keeps its
//     Deployment until the name it wants is free. A person must give one of them a third
//     name first.
//   - An update sends the whole Deployment. A field that this version of client-go does not
//     know, set on a newer cluster, is lost with it.
//   - A refusal is told once a cause: once more after a restart, and after 15 minutes in which no
//     reconcile met it.
//   - A Foo that others write all the time may not get its status for long, and a Deployment that they
//     write all the time no update: a write carries the version that it was made from, and each Conflict
//     lengthens its back-off, up to 30 s.
//   - A Deployment that was copied with its owner reference is one that the Foo controls under
//     another name: it is deleted. If it is still there at a rename, its number counts as that of an old one.
//   - That others undo a deletion is told while there is something to delete, and not for a minute after.
//   - That the cache is behind is told when looks have shown it for 10 s, beside the numbers that it has.
//   - While a watch is down, or silent, no key is reconciled whose last write, or last answer to a GET, it has
//     not shown: the status stays that of its observedGeneration, and the log tells it each minute.
package foo
