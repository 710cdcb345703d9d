// Command twokinds gives each Team its Foos, once the Team has a Secret, and rolls up in the status
// of the Team how many of them are ready. Who makes the Foos ready is another program, the core's.
//
//	cd chapters && go run ./twokinds --kubeconfig FILE --namespace NAME
//
// Its neighbours are the core's: package informer keeps three kinds in memory, package controller
// has the queue and the workers, package clientset creates the Foos. New here are the parent, and
// the ways from a Secret and from a child to the Teams that they concern.
//
// # Basics
//
//   - team.go: what a Team is.
//   - main.go: three informers, one queue; the index of Teams by what they name.
//   - reconcile.go: Reconcile; createFoos; rollUp.
//
// # Properties
//
//   - An event of the Team, of a Foo that it controls or waits for, or of its Secret adds the key of
//     the Team. Nothing is polled.
//   - Whichever comes last, the status is the same. It follows from the stores alone.
//   - A status is written only if it differs. Foos are created under a name that follows from the
//     Team, and so once.
//   - No value of a Secret is in memory after the transform, and so in no status, Event or log.
//   - A Secret that goes makes the Team not ready. It deletes no Foo.
//
// # Caveats
//
//   - RBAC knows no types and no labels: the right to list Secrets is one to read all of a
//     namespace. Give it in those namespaces that have Teams.
//   - Members can be added and not removed, as the schema says.
//   - Run one process for each namespace. A second one is refused what the first one has done.
package main
