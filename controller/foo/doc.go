// Package foo reconciles Foos: it compares their current state with their desired state, and writes each object
// that differs, with one request.
//
// Package controller calls it with the key of a Foo. It reads the stores of package informer, and writes
// through package clientset and, for Deployments, client-go's clientset.
//
// # Deletion
//
// When a Foo is deleted, the garbage collector deletes its Deployment, because of the owner reference. With
// propagationPolicy Foreground, the Foo has a deletionTimestamp until its Deployment is gone, and a new
// Deployment would block the deletion again. So Reconcile does nothing for such a Foo.
//
// # Limitations
//
//   - Run one active process (--leader-elect). Two active processes send every write twice; the API server's
//     checks of resourceVersion, UID and name protect the objects.
//   - A failing write delays all work on the same Foo, including its status, by up to 30 s, unless its spec
//     changes. Three problems appear only in the log: a status that cannot be written, a race that repeats
//     while a watch is down, and a webhook that rejects with 404 or 409, which looks like a race.
//   - A rename is not a rolling update: the old Deployment is deleted when the new one exists, before its
//     Pods run. If the Foo is renamed back during the DELETE, it gets a new Deployment.
//   - Two Foos that swap the names of their Deployments wait for each other. Use a third name first.
//   - A copy of a Deployment with the same owner reference is deleted, like a Deployment with an earlier name.
//   - All Deployments and Projects are in memory, no matter who created them (--namespace limits this).
//   - If the CRD in the cluster is older and lacks a status field, the API server drops this field, and the log
//     reports that. An update of a Deployment drops fields that this version of client-go does not know.
//   - After a restore of etcd from a backup, restart the program: watches do not notice a restore.
package foo
