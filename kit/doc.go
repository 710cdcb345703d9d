// Package kit has no code. Its folders are packages for controllers in this and other modules:
// `make new` creates such a module.
//
//	connect    finds the API server, and explains a failed connection in one line
//	leader     leader election: one process works at a time
//	serve      health, readiness and metrics over HTTP
//	metrics    Prometheus metrics of queue, reconcile, informers, requests and election
//	events     sends the Events that a controller records
//	check      one test of a kind's schema, types, copies, registration and role
//	crd        compares a CustomResourceDefinition with its Go types
//	deepcopy   tests hand-written DeepCopy methods
//	builtin    the built-in kinds, for an API server in memory
//	testkit    an API server in memory, and faults for it
//
// The loop and the informer are in packages controller and informer.
//
// There is no release yet: names may change with any commit.
package kit
