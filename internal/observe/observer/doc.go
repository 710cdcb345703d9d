// Package observer records how an object passes through a controller: a watch event, the store, the
// queue, the worker, the reconcile, a request and its response, and the echo of that write as the next
// event. Each of these is a trace.Step. The log, the timeline of --trace, recordings and the page are made
// from these steps.
//
// # Basics
//
// An Observer provides wrappers for the places where main connects one part to the next. Each passes
// everything on unchanged:
//
//   - Requests wraps the clients: list and watch streams, requests and responses.
//   - Queue wraps the queue of a kind, and Informers the handlers of informers: a change becomes a key.
//     With Options.All the handlers of all informers run one at a time.
//   - Reconcile wraps the reconcile of a kind: its cause and its decisions.
//   - Program records steps of the whole process.
//
// The package has no list of kinds: main passes each Kind. If two kinds could be confused, the wiring
// panics. The location of a step's code comes from the stack.
//
// Print writes the steps as a log, as a timeline or as JSON. The History keeps the newest ones for the page.
//
// # Properties
//
//   - The path of a key never waits for a reader. Recording takes a number, the time, pointers to
//     objects, and a copy of sent data. Slow work follows 20 ms later, in the order of the numbers.
//   - A step shows the state at its time. Only the origin of an event may be determined later.
//   - At most 32,768 steps are pending. Further steps are lost, and their numbers are missing.
//   - Close publishes all recorded steps.
//   - Steps contain no headers. Objects and bodies show only the fields that their Kind selects, and
//     annotations only if their name begins with an observed kind's group.
//
// # Limitations
//
//   - The event of a write may arrive before the response, so steps are published 20 ms late. If the
//     response takes longer or is lost, the event counts as another client's. The cause of a reconcile is exact,
//     because no key is reconciled before the response to its last write.
//   - A PUT that changes nothing returns the version of the write before it. If that was a different
//     client's write, its event may count as the controller's own.
//   - While the output of Print blocks, no step is published: the page shows nothing new, steps are lost,
//     and Close waits. A reader that has exited does not block.
//   - The queue does not report the end of a delay. The step "due" follows when a worker takes the key or
//     gives it back.
//   - A server's error message appears as it is, and may quote a value that was sent.
//   - An owner is looked up in the namespace of the object that it owns.
//   - With Options.All the clients use JSON, and a response is read before the client gets it.
package observer
