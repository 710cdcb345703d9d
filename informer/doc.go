// Package informer keeps Projects, Foos and Deployments in memory: it lists and
// watches them, stores them, and calls a handler for each change.
//
// Its neighbours in the flow: it sends requests through package clientset (for
// Deployments, through client-go's own). Package controller has the handlers, and reads
// the stores.
//
// # Basics
//
// A Reflector lists and watches, and puts what it receives into a FIFO. A loop takes it
// out, changes the Store, then calls the handler. So a handler finds the Store at least
// as new as its event. Nothing is merged before the queue: it is called for each event, in order.
//
//	foos := informer.NewFoos(client, "", 10*time.Minute, handler)
//	go foos.Run(ctx)
//	err := informer.WaitForSync(ctx, 30*time.Second, foos)
//
// # What the handler hears
//
//   - First list: OnAdd for each object. It is a streaming list: a watch that begins
//     with every object, then a bookmark, an event that has only a resourceVersion. If
//     that fails, the Reflector sends a LIST, then a WATCH.
//   - Broken watch: nothing. A watch has a time limit of 5 to 10 minutes, and connections
//     are reset. The Reflector watches again from the last resourceVersion that it
//     received, so it misses no event. It tries until the server answers.
//   - Relist: OnUpdate for each object that the Store had already, changed or not, and
//     OnAdd for each new one, as when the API server no longer has the last resourceVersion
//     (410, Expired).
//   - Missed deletion: a relist lacks an object that the Store has. OnDelete gets a
//     cache.DeletedFinalStateUnknown (a tombstone), by value, with the object as the
//     Store had it, or only the key.
//   - Resync: OnUpdate for each object in the Store, as both old and new, without a request:
//     a second chance for what a handler has missed.
//   - An object that the Go type cannot hold, which only a wrong CRD admits: nothing, and
//     nothing about any other object of the kind, until a person mends it. Ready tells.
//
// # Caveats
//
//   - All readers of a Store share its objects. Never change one, change a DeepCopy.
//   - A Store may be older than the API server, also after your own write.
//   - A watch that is open and delivers nothing looks as one of objects that nobody changes. Ready does
//     not tell.
package informer
