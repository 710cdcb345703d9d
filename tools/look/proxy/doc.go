// Package proxy shows what any controller receives and sends, in any language and without changes to
// it.
//
//	program ──► Proxy (HTTPS on loopback, with its own token) ──► API server
//	              │
//	              └─► what its watches delivered, what it wrote, and because of what
//
// A controller learns through its lists and watches, and acts through requests. Both pass the Proxy
// unchanged. It decodes JSON, and protobuf of the built-in kinds and of metadata. For everything else
// it requests JSON, and logs that.
//
// exchange.go makes a step of each message: responses to writes, lists, and watch events. The observer
// publishes the steps in order, and keeps them for the page. world.go stores the objects, cause.go and
// relation.go choose the cause of a write, and rules.go has the findings.
//
// # Stored data
//
// The Proxy keeps an object's fields, without annotations of over 256 bytes and with only the newest of
// its managedFields. It keeps no data and annotations of a Secret, and only the metadata of objects
// over 8 KiB. It keeps at most 8,192 objects, and the newest 8,192 events. It never keeps headers, and
// so no credentials, and no response of a subresource but status. It does not read upgrades, logs,
// reviews and Events.
//
// # The cause of a write
//
// The cause is the newest event that fits: at most a second old, or two seconds if it comes from
// another client. It is of the object itself, its owner, or an object with the same owner. It may also
// be of an object that names or selects the object or its owner, or the other way around. Events of
// other clients come before events of the program's own writes. A reconcile sends each write once, so
// an event that caused a write does not cause the same write again. Without an event of another client,
// a write after a failure is a retry. In all other cases no cause is seen.
//
// # Limitations
//
//   - A reconcile that began before an event, and sent after it, is attributed to that event.
//   - A write caused by the event of an own write is attributed to an event of another client if that is
//     less than two seconds old.
//   - While the program sends without a break of a second, an event of another client may be older
//     than two: its queue may be long.
//   - Timers, resyncs and other systems cannot be seen. Their writes may be attributed to a related event.
//   - Secrets in two namespaces are never related, because their annotations are not kept.
//   - A deletion is not seen while the program has no watch open.
//   - An existing object that a program lists again after a restart is no cause.
//   - A recording does not have the requests that are not shown, so it has no unused-permission.
package proxy
