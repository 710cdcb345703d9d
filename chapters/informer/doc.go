// Command informer is the core's Foo controller on an informer and a work queue that are made
// by hand.
//
//	cd chapters && go run ./informer --kubeconfig FILE
//
// Its neighbours are the core's: package controller has the reconcile and the workers,
// package informer the index functions. What is between the API server and the
// reconcile is in this folder, one file a part.
//
// # Basics
//
//   - reflector.go: list and watch, and what to do when a watch ends.
//   - fifo.go: what was heard, in its order, and how it changes the store.
//   - store.go: objects by key and by index.
//   - shared.go: several handlers on one watch.
//   - queue.go: keys that wait for a worker.
//
// Types such as cache.Delta and cache.ResourceEventHandler are client-go's, so that each part
// can take the place of client-go's and the other way round (--client-go).
//
// # Properties
//
//   - A handler hears an object's changes in their order, one call at a time. Between two
//     handlers there is no order.
//   - It may miss states in between (a relist shows the last one), and never the last one.
//   - Everything ends when the context of Run is done: requests at once, a handler that runs
//     when it returns. What waits for a handler then is dropped: the first list of the next
//     process has it.
//
// # Caveats
//
//   - The store may be older than the API server, also after your own write.
//   - The FIFO and the buffers of the handlers have no bound (TestWhatGrows).
//   - It watches JSON and keeps objects whole. For a program of your own take client-go's.
//   - Its Foos are those of the core. Running both is harmless and useless.
package main
