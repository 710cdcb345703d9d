// Package controller is the loop of a controller, for any kind: handlers enqueue keys, and workers take
// them and call a Reconcile. Package informer calls the handlers. Package controller/foo is the Reconcile
// of Foos.
//
// Read example_test.go first: a whole controller in 40 lines. It uses handlers.go, queue.go and
// controller.go, in this order. Each of the other files adds one thing that production needs, and begins
// with the problem that it solves: readyourwrites.go, rewrites.go, retries.go, priority.go.
package controller
