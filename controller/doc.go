// Package controller is the loop of a controller, for any kind: handlers add keys to a queue, and
// workers take them and call a reconcile. It depends on no other package here. Package
// controller/foo is the reconcile of Foos.
//
// Its neighbour in the flow: package informer calls its handlers.
//
// # Basics
//
// example_test.go has the whole idea in 40 lines. README.md lists the files in the order in which
// to read them. What production adds is in one file each, which begins with the timeline of what
// goes wrong without it. Each promise about keys, retries and time-outs is beside the code that
// keeps it: Queue, RateLimiter, Reconcile, PendingWrites, Failures.
package controller
