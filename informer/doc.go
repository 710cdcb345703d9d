// Package informer keeps Foos, Projects and Deployments in memory: it lists and
// watches them, stores them, and calls a handler for each change.
//
// Its neighbours in the flow: it sends requests through package clientset (for
// Deployments, through client-go's own clientset). Package controller has the
// handlers, and reads the stores.
//
// # Basics
//
// An Informer is what cache.NewInformer makes. A Reflector lists and watches, and
// puts what it receives into a FIFO. A loop takes it out, changes the Store, then
// calls the handler. So a handler finds the Store at least as new as its event.
//
//	foos := informer.NewFoos(client, "", 10*time.Minute, handler)
//	go foos.Run(ctx)
//	err := informer.WaitForSync(ctx, 30*time.Second, foos)
//
// cache.NewInformer, with its four positional arguments, is deprecated in favour
// of cache.NewInformerWithOptions, which this package calls. Both run the same
// code.
//
// # What the handler hears
//
//   - First list: OnAdd for each object. The list is a stream: a watch that begins
//     with every object, then a bookmark. If that fails, the Reflector sends a
//     LIST, then a WATCH.
//   - Broken watch: nothing. The Reflector watches again from the last
//     resourceVersion that it received, so it misses no event.
//   - Relist: OnUpdate for each object that the Store had already, changed or not.
//     The Reflector lists again when a watch ends with an error, most often because
//     the API server no longer has the last resourceVersion (410, Expired).
//   - Missed deletion: a relist lacks an object that the Store has. OnDelete with a
//     cache.DeletedFinalStateUnknown (a "tombstone"), by value. It holds the
//     object as the Store had it.
//   - Resync: OnUpdate for each object in the Store, as both old and new. No
//     request is sent. A handler that missed something gets a second chance.
//
// # Caveats
//
//   - All readers of a Store share its objects. Never change one: DeepCopy it and
//     change the copy.
//   - A Store may be older than the API server, also after your own write.
package informer
