// Command informer is the core's Foo controller on an informer and a work queue that are made
// by hand.
//
//	cd chapters && go run ./informer --kubeconfig FILE
//
// Its neighbours are the core's: package controller has the reconcile and the workers, package informer
// the index functions.
//
// # Properties
//
//   - A handler hears an object's changes in their order, one call at a time. Between two
//     handlers there is no order.
//   - It may miss states in between, and never the last one.
//   - Everything ends when the context of Run is done: requests at once, a handler when it returns. What
//     waits for a handler is dropped: the next process has it in its first list.
//   - The store may be older than your own write.
package main
