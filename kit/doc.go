// Package kit has no code. Its folders are what a controller needs beside its own kind, for this
// program and for any other module: `make new` begins one.
//
//	connect    which API server, and one line that says what to do when it cannot be reached
//	leader     one of several processes works at a time
//	serve      health, readiness and metrics over HTTP
//	metrics    what there is to count
//	events     sends the Events that a controller records
//	check      one test of schema, types, copies, registration and role of a kind
//	crd        a CustomResourceDefinition beside its Go types
//	deepcopy   copies that are written by hand
//	testkit    an API server in memory, and what can go wrong before one
//
// The loop and the informer are in packages controller and informer.
//
// There is no release yet: names may change with any commit. What a doc comment promises is tested.
package kit
