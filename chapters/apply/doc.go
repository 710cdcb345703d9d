// Command apply gives each Foo its Deployment in one of four ways, while an autoscaler writes
// the same Deployment: Update of the whole object, merge patch, strategic merge patch or
// server-side apply.
//
//	cd chapters && go run ./apply --kubeconfig FILE --way=apply --beside=3s
//
// It uses packages of the Foo controller: informer reports changes of Foos and their
// Deployments, controller has the queue and the workers, clientset sends the status. The ways
// to write, and the record of each field's owner, are new.
//
// # Properties
//
//   - All four ways ask for the same. None writes if nothing differs.
//   - If a Foo has no spec.replicas, the program never changes the Deployment's number.
//   - A conflict with the owner of a field is logged and not retried: the same request would get
//     the same response until the owner writes the Deployment, and that is an event.
//   - status.observedGeneration follows once the whole desired state is written.
//
// # Limitations
//
//   - The whole program uses one field manager, with one apply per object. A second apply under
//     the same name, with other fields, would remove the first one's fields.
//   - Without --force, one field of another owner blocks all others: an apply is atomic.
//   - Only an apply removes a field from a Deployment when this program no longer sets it.
//   - Apply creates a missing Deployment and changes an existing one, so the program reads it
//     first. It changes one that another client creates between the two requests.
//   - The status is the same that the core writes. Do not run both for the same Foos.
package main
