// Command informer runs the core's Foo controller on an informer and a work queue that are
// written by hand.
//
//	cd chapters && go run ./informer --kubeconfig FILE
//
// It uses the core's packages: controller has the reconcile and the workers, informer the index
// functions.
//
// # Properties
//
//   - A handler receives an object's changes in order, one call at a time. There is no order
//     between two handlers.
//   - A handler may miss states in between, but never the last one.
//   - Everything ends when Run's context is done: requests at once, a handler when it returns.
//     Queued calls are dropped: the next process has them in its first list.
//   - The store may be older than your own write.
package main
