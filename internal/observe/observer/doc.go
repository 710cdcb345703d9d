// Package observer tells how an object travels through a controller: the event that a
// watch delivers, the store, the queue, the worker, the reconcile, the request and its
// answer, and the echo of that write as the next event. Each of these is a trace.Step. The
// log, the timeline of --trace, a recording and the page are made of the same steps.
//
// # Basics
//
// An Observer hands out wrappers for the places where main wires one part to the next.
// Each passes everything on as it is:
//
//   - Requests, around those of clients: list and watch streams, requests and answers.
//   - Queue, around the queue of a kind, and Informers, between the informers and their
//     handlers: a change becomes a key. With Options.All the handlers of all informers run
//     one at a time.
//   - Reconcile, around the reconcile of a kind: what woke it, what it decided.
//   - Program, for what the whole process does.
//
// It knows no kind: main hands each Kind over where it wires it. Wiring in which two kinds
// could not be told apart panics. Where the code of a step stands is read from the
// stack.
//
// Then there are those who look on:
//
//   - Print writes the steps, as a log, as a timeline or as JSON.
//   - The History keeps the newest, for the page.
//
// # Properties
//
//   - No goroutine on the way of a key waits for a reader. What happens there takes a number, a
//     time, pointers to objects, and a copy of what is sent. What takes long is done in the
//     order of the numbers when the step is published, 20 ms later.
//   - A step says what was so when it happened. Whose write an event comes from may have
//     been learned since.
//   - At most 32,768 steps wait to be published. More are lost, and their numbers are missing.
//   - Close publishes what was recorded before it.
//   - No header is ever in a step. Of objects and bodies only the fields are shown that
//     their Kind names, and of annotations only those whose name begins with the group of
//     an observed kind.
//
// # Caveats
//
//   - The event of a write may come before the answer to it. Steps are published 20 ms late
//     for that reason. If the answer takes longer, the event counts as another client's. The
//     cause of a reconcile is exact: no key is reconciled before the answer to its last
//     write is in.
//   - A PUT that changes nothing is answered with the version of the write before it. If
//     that was another client's, its event may count as our own.
//   - Objects are read after they were handed over. An object in a store is never
//     changed, or this package would show what it never was.
//   - While nothing reads the output of Print, no step is published: the page shows nothing new,
//     steps are lost, and Close waits. A reader that has exited stops nothing.
//   - If the answer to a write is among the lost steps, its event counts as another client's.
//   - The queue does not tell when a delay is over. The step "due" comes when a worker takes
//     the key or gives it back.
//   - A server's refusal is shown in its words, which may quote a value that was sent.
//   - A kind that is owned is looked for in the namespace of what it owns.
//   - With Options.All the clients speak JSON, and the answer to a request is read before
//     the client gets it.
package observer
