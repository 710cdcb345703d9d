// Package trace observes how an object travels through a controller: the event
// that a watch delivers, the store, the queue, the worker, the reconcile, the
// request and its answer, and the echo of that write as the next event. It says so
// one Step at a time, to a terminal, to a file of JSON lines, to a page.
//
// # Basics
//
// A Recorder hands out wrappers for the places where main wires one part to the
// next. Each wrapper passes everything on as it is:
//
//   - Recorder.Transport, around the requests of a client: list and watch streams,
//     requests and answers.
//   - Recorder.Queue, around the queue, and Recorder.Handler, between the queue and
//     what fills it: a change becomes a key.
//   - Recorder.Reconcile, around the reconcile: what woke it, what it decided.
//   - Recorder.Program, for what the whole process does.
//
// A nil *Recorder is tracing that is off: each wrapper returns its argument itself.
//
// What a step is called, by its part:
//
//	stream     opened, listed, received, ended, refused
//	store      added, updated, deleted, resync, tombstone
//	queue      added, coalesced, delayed, limited, due, forgot
//	worker     got, done
//	reconcile  started, ended, failed
//	request    sent, answered, failed
//	program    started, standby, leader, synced, lost, stopped, dropped, said
//
// # Properties
//
//   - Nobody on the way of a key waits, for a listener or for a text. What happens
//     there takes a number, a time and a pointer; what takes long is done later, in
//     the order of the numbers, when the step is told: a few milliseconds after it.
//   - What is told is what was so when it happened: whose write an event is the echo
//     of, what woke a reconcile.
//   - Memory is bounded, by number and by bytes, however many objects there are. If
//     more happens than can be told, steps are missing, and a step in their place
//     says how many. A subscription that does not keep up loses steps, too, and is
//     told how many.
//   - What was recorded before Close is printed, to a reader that reads.
//   - No header is ever in a step, and so no credential. Bodies and objects are
//     those of Foos, Projects and Deployments alone, of Deployments
//     only a Foo's, and without the values of their environment variables.
//
// # Caveats
//
//   - An event of one's own write may overtake the answer to that write. While the
//     write is under way, the event counts as its echo if it has the content that
//     was sent. The cause of a reconcile is exact: no key is reconciled before the
//     answer to its last write is in.
//   - Objects and bodies are read after they were handed over. An object in a store
//     is never changed, or this package would show what it never was.
//   - What a gap has swallowed is not known: an own write may go unnamed after it.
//   - The queue tells nobody when a delay is over. The step "due" comes from a timer
//     of the same length.
package trace
