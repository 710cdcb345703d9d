// Command apply gives each Foo its Deployment in one of four ways, while an autoscaler writes
// the same Deployment: Update of the whole object, merge patch, strategic merge patch or
// server-side apply.
//
//	cd chapters && go run ./apply --kubeconfig FILE --way=apply --beside=3s
//
// Its neighbors are the core's: package informer reports changes of Foos and their
// Deployments, package controller has the queue and the workers, package clientset sends the
// status. New here are the ways to write, and the record of each field's owner.
//
// # Properties
//
//   - All four ways ask for the same. None writes if nothing differs.
//   - A Foo without spec.replicas leaves the number to others. It does not change.
//   - A conflict with the owner of a field is logged and not retried: the same request would get
//     the same response until the owner writes the Deployment, and that is an event.
//   - status.observedGeneration follows once the whole desired state is written.
//
// # Limitations
//
//   - The whole program uses one field manager, with one apply per object. A second apply under
//     the same name, with other fields, would remove the first one's fields.
//   - Without --force, one field of another owner blocks all others: an apply is atomic.
//   - A strategic merge patch and an Update leave fields that this program no longer sets in old
//     Deployments. An apply removes them.
//   - Apply creates a missing Deployment and changes an existing one, so the program reads it
//     first. It changes one that another client creates between the two requests.
//   - The status is the same that the core writes. Do not run both for the same Foos.
package main
