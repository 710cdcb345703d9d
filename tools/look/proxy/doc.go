// Package proxy shows what a controller receives and sends, from outside: any controller, in any
// language, without a changed line.
//
//	program ──► Proxy (HTTPS on loopback, with its own token) ──► API server
//	              │
//	              └─► what its watches delivered, what it wrote, and because of what
//
// A controller learns through its lists and watches, and acts through requests. Both pass the Proxy
// unchanged. It decodes JSON, and protobuf of the built-in kinds and of metadata. For everything else it
// requests JSON, and the log says so.
//
// proxy.go takes requests. exchange.go passes them on through package wire, and makes a step of each
// message: answers of writes, lists, and events of watches. The observer publishes the steps in order,
// and keeps them for the page. world.go knows the objects as they are, and their owners. log.go makes a
// line of each step. cause.go chooses the cause of a write, relation.go knows which objects are related,
// and changes.go compares. rules.go has the findings, findings.go the state that they need, and role.go
// the rights. replay.go reads a recording.
//
// # What is kept
//
// An object's fields, without annotations of over 256 bytes, with only the newest of its managedFields,
// and for a Secret without data and annotations. For an object of over 8 KiB only its metadata. At most
// 8,192 objects, and the newest 8,192 events. Headers, and with them credentials, are never kept, and no
// answer of a subresource but status. Upgrades, logs, reviews and Events are not read.
//
// # The cause of a write
//
// The newest event that fits is the cause, at most a second old, or two if it is of another client: of the object itself, its owner, an object
// with the same owner, or one that names or selects the object or its owner, or the other way around.
// An event of another client comes before one of the program's own writes. A reconcile sends each write
// once, so an event that caused a write does not cause the same write again. Without such an event a
// write after a failure is a retry. In all other cases no cause is seen.
//
// # Limitations
//
//   - A reconcile that began before an event, and sent after it, is attributed to that event.
//   - A write caused by the event of an own write is attributed to an event of another client if that is
//     less than two seconds old.
//   - While the program sends without a break of a second, an event of another client may be older
//     than two: its queue may be long.
//   - Timers, resyncs and other systems cannot be seen.
//   - Secrets in two namespaces are never related, because their annotations are not kept.
//   - A list in pages does not show which objects are gone.
//   - An existing object that a program lists again after a restart is no cause.
//   - A recording does not have the requests that are not shown, so it has no unused-right.
package proxy
