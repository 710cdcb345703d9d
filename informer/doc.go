// Package informer keeps Foos, Projects and Deployments in memory: a first list,
// then a watch, fill a store and call a handler for each change.
//
// Its neighbours in the flow: it lists and watches through package clientset
// (Deployments through client-go's own clientset); the handlers that it calls and
// the stores that it fills belong to package controller.
//
// # Basics
//
// An Informer is what cache.NewInformer makes: a Reflector lists and watches and
// puts what it receives into a FIFO; a loop takes it out, changes the store and
// then calls the handler. So whoever is woken by a handler finds the store at
// least as new as the event.
//
//	foos := informer.NewFoos(client, "", 10*time.Minute, handler)
//	go foos.Run(ctx)
//	err := informer.WaitForSync(ctx, 30*time.Second, foos)
//
// cache.NewInformer itself, with its five positional arguments, is deprecated in
// favour of cache.NewInformerWithOptions, which stands here. Both are the same
// code.
//
// # Caveats
//
//   - Objects in a store are shared by everybody who reads it. Never change one:
//     DeepCopy first, then change the copy.
//   - A store is always a little behind the API server, also after one's own
//     writes.
//   - A resync calls the handler again for everything in the store. It asks the
//     API server nothing. It is the second chance of a change that a handler
//     missed.
//   - A deletion that was missed while the watch was down arrives as a
//     cache.DeletedFinalStateUnknown (a "tombstone"), by value.
package informer
