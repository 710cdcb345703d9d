// Command apply gives each Foo its Deployment in one of four ways, beside an autoscaler that
// writes the same Deployment: Update of the whole object, merge patch, strategic merge patch,
// server-side apply.
//
//	cd chapters && go run ./apply --kubeconfig FILE --way=apply --beside=3s
//
// Its neighbours are the core's: package informer says that a Foo or its Deployment has
// changed, package controller has the queue and the workers, package clientset sends the
// status. New here are the ways to write, and the record of who owns which field.
//
// # Basics
//
//   - reconcile.go: what a Foo asks for, as one document; the four ways to send it; and the two
//     times that this program edits managedFields: when it has written by Update before, and
//     when it gives the number of replicas away.
//   - main.go: the wiring, the two programs beside, and managedFields made readable.
//
// # Properties
//
//   - All four ways ask for the same. None writes anything when nothing differs.
//   - A Foo without spec.replicas leaves the number to others. It stays what it was.
//   - A conflict with the owner of a field is logged and not retried: the same request would get
//     the same answer until the owner writes the Deployment, and that is an event.
//   - status.observedGeneration follows when all that the Foo asks for is written.
//
// # Caveats
//
//   - There is one field manager for the whole program, and one apply for each object. A second
//     apply under the same name, with other fields, would remove those of the first.
//   - Without --force one field of another owner holds up all others: an apply takes effect
//     whole or not at all.
//   - A strategic merge patch and an Update leave what this program no longer asks for in old
//     Deployments. An apply removes it.
//   - Apply creates what is not there and changes what is, so the Deployment is read first. One
//     that another client creates between the two requests is changed.
//   - The status is the one that the core writes. Do not run both for the same Foos.
package main
