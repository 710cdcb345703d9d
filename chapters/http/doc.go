// Command http is a whole controller without client-go: with only the standard library, it
// gives each Foo its Deployment and updates the Foo's status.
//
//	kubectl proxy &
//	cd chapters && go run ./http
//
// It is the whole flow: list → watch → store → queue → worker → reconcile → POST and PUT.
// Each step is a few lines of main.go. The core has packages for these steps, built on
// client-go.
//
// # Words
//
// The API server stores objects: JSON documents with a name, in folders called namespaces.
// A Foo is an object that asks for a Deployment, and a Deployment asks for Pods, copies of a
// program. An object's spec is what users ask for; its status is what a program has done about
// it. Such a program is a controller. Every write gives an object a new version.
//
// # Limitations
//
//   - Do not use it in production. After a fault it exits, misses changes, hangs, or sends
//     requests without a pause.
//   - It creates a Deployment and never reads it again: a deleted Deployment is not
//     recreated, and a changed number of replicas is not applied.
//   - Its status overwrites the core's. Do not run both for the same Foos.
package main
