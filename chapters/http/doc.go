// Command http is a whole controller without client-go, from the standard library alone:
// it gives each Foo its Deployment, and says so in the Foo's status.
//
//	kubectl proxy &
//	cd chapters && go run ./http
//
// It has no neighbours in the flow, it is the whole flow: list → watch → store → queue →
// worker → reconcile → POST and PUT. Each of these is a few lines of main.go, where the
// core has a package, and client-go one more below that.
//
// # Words
//
// The API server stores objects: JSON documents with a name, in folders that are called
// namespaces. A Foo is an object that asks for a Deployment, and a Deployment is one that
// asks for Pods, copies of a program. What people ask for is the spec of an object, what a
// program has done about it is its status. A program that does something about it is a
// controller. Every write gives an object a new version.
//
// # Basics
//
//   - main.go: the flow, from top to bottom.
//   - objects.go: a Foo as a Go type, and the Deployment that it asks for.
//   - kubectl proxy reads the kubeconfig and speaks TLS, so that the program does not have to.
//   - rows_test.go: ten faults, which end or break this program and not the core. The
//     README has the table.
//
// # Caveats
//
//   - It is no controller to run. On a quiet day it does its work; on any other it ends,
//     forgets, hangs, or sends one request after the other without a pause.
//   - It makes a Deployment and never looks at it again: what a person deletes does not
//     come back, and a changed number of replicas stays in the Foo.
//   - Its status overwrites the one that the core writes. Do not run both for the same Foos.
package main
