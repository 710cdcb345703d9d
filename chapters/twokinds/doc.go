// Command twokinds gives each Team its Foos once its Secret exists, and writes the number of ready
// Foos to the Team's status. Another program, the core, makes the Foos ready.
//
//	cd chapters && go run ./twokinds --kubeconfig FILE --namespace NAME
//
// It uses the core's packages: informer keeps three kinds in memory, controller has the queue and
// the workers, clientset creates the Foos. New here are the parent, and the mapping from a Secret
// or a child to its Teams.
//
// # Properties
//
//   - An event of the Team, of a Foo that it controls or waits for, or of its Secret enqueues the
//     Team. Nothing is polled.
//   - The order of events does not matter: the status depends only on the stores.
//   - A status is written only if it differs. A Foo's name is derived from the Team, so each Foo
//     is created once.
//   - The transform removes a Secret's values from memory, so no status, Event or log has them.
//   - If the Secret is deleted, the Team is not ready. No Foo is deleted.
//
// # Limitations
//
//   - RBAC has no types and no labels: permission to list Secrets covers all Secrets of a
//     namespace. Grant it only in namespaces that have Teams.
//   - Members can be added but not removed; the schema enforces that.
//   - Run one process per namespace. If two run, one gets errors for writes that the other has done.
package main
