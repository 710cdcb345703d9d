// Command finalizer gives each Project volumes in a storage that is outside the cluster, one
// for each replica, and deletes them before the Project goes. No garbage collector reaches
// there: that of Kubernetes deletes objects.
//
//	cd chapters && go run ./finalizer --kubeconfig FILE --store DIR
//
// Its neighbours are the core's: package informer keeps the Projects in memory, package
// controller has the queue and the workers, package clientset sends the patches. New here
// are the reconcile and the storage.
//
// # Basics
//
//   - store.go: the storage. Here it is a directory tree, DIR/UID/0, DIR/UID/1 and so on.
//   - project.go: Reconcile. It adds the finalizer, then creates volumes. For a Project
//     that is being deleted it deletes the volumes, then removes the finalizer.
//   - sweep.go: volumes whose Project has gone without them.
//   - main.go: the wiring.
//
// # Properties
//
//   - A volume exists only while its Project has the finalizer. So the API server keeps a
//     Project until its volumes are gone, whenever this program is killed, and however long
//     it is off.
//   - A finalizer is added or removed by a JSON Patch that tests what it was made from.
//     The finalizers of others stay. If one comes or goes at the same time, the patch is
//     refused and made again.
//   - What is deleted is lost, so no cache decides it alone. A deletionTimestamp never goes
//     away again, however old the cache is. Before surplus volumes and orphans are deleted,
//     the API server is asked.
//   - A Project that asks for more than --max-volumes gets an Event, and keeps what it has.
//
// # Caveats
//
//   - A store belongs to one cluster. To a program that talks to another one, all volumes in
//     it are orphans. The same is true for Projects that a restored backup does not have.
//   - All programs that act on a Project must use the same store: there is one finalizer.
//   - Run one process for each namespace. A second one does no lasting harm. It may create
//     volumes just after the first one has let the Project go; the next sweep deletes them.
//   - A sweep needs to list the Projects of all namespaces, with --namespace as well. If it
//     fails, the rest works on, orphans stay, and a line on stderr says why.
//   - If the store is not mounted and its directory is there, the volumes look lost and are
//     made anew, empty, on the disk below.
package main
