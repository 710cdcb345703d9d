// Package informer keeps Projects, Foos and Deployments in memory: it lists and watches them, stores them, and
// calls a handler for each change.
//
// It sends requests through package clientset and, for Deployments, client-go's clientset. Package controller
// has the handlers and reads the stores.
//
//	foos := informer.NewFoos(client, "", 10*time.Minute, handler)
//	go foos.Run(ctx)
//	err := informer.WaitForSync(ctx, 2*time.Minute, foos)
//
// A Reflector lists and watches, and puts each event into a FIFO. A loop takes it out, updates the Store, then
// calls the handler. The handler is called for each event, in order.
//
// # Calls of the handler
//
//   - First list: OnAdd for each object. It is a streaming list: a watch that begins with every object, then a
//     bookmark, an event that has only a resourceVersion. If that fails, the Reflector sends a LIST, then a WATCH.
//   - Broken watch: no call. A watch ends after 5 to 10 minutes, or when its connection is reset. The Reflector
//     watches again from the last resourceVersion that it received, so it misses no event.
//   - Relist: OnUpdate for each object that the Store already has, changed or not, and OnAdd for each new one.
//     The Reflector lists again if the API server no longer has the last resourceVersion (410, Expired).
//   - Missed deletion: a relist lacks an object that the Store has. OnDelete receives a
//     cache.DeletedFinalStateUnknown (a tombstone) with the last known object, or only the key.
//   - Resync: OnUpdate for each object in the Store, as both old and new, without a request.
//
// # Limitations
//
//   - All readers of a Store share its objects. Never change one; change a deep copy.
//   - A Store may be older than the API server, even after your own write.
//   - An object that the Go type cannot hold stops all events of its kind, until it is corrected. Only a wrong CRD
//     admits one. Ready reports it.
//   - Ready does not notice a watch that is open and delivers no events.
package informer
