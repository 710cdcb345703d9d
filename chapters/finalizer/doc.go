// Command finalizer gives each Project one volume per replica, in a storage outside the
// cluster, and deletes them before the Project disappears. Kubernetes' garbage collector
// cannot do that: it only deletes API objects.
//
//	cd chapters && go run ./finalizer --kubeconfig FILE --store DIR
//
// It uses the core's packages: informer keeps the Projects in memory, controller has the
// queue and the workers, clientset sends the patches. New here are the reconcile and the
// storage.
//
// # Properties
//
//   - A volume exists only while its Project has the finalizer. So the API server keeps a
//     Project until its volumes are deleted, even if this program is killed or off.
//   - A JSON Patch adds or removes the finalizer. It tests the list it is based on, so other
//     finalizers stay: if the test fails, the patch is rejected, and the reconcile runs again.
//   - Deleted data is lost, so a stale cache must not cause a deletion. A deletionTimestamp is
//     final, however stale the cache is. Before the program deletes surplus or orphaned
//     volumes, it asks the API server.
//   - A Project that asks for more than --max-volumes gets an Event, and keeps its volumes.
//
// # Limitations
//
//   - A store belongs to one cluster. A program connected to another cluster treats all
//     volumes as orphans, and after a restore all volumes of Projects that the backup lacks.
//   - All programs for the same Projects must use the same store: there is one finalizer.
//   - Run one process per namespace. A second one may create volumes just after the first
//     has released the Project; the next sweep deletes them.
//   - A sweep must list the Projects of all namespaces, even with --namespace. If that
//     fails, orphans remain, and a line on stderr explains why.
//   - If the store's directory exists but is not mounted, the volumes look lost and are
//     recreated, empty, on the disk below.
package main
