// Package proxy shows what a controller hears and sends, from outside: any controller, in any
// language, without a changed line.
//
//	program ──► Proxy (HTTPS on loopback, with a token of its own) ──► API server
//	              │
//	              └─► what its watches told, what it wrote, and because of what
//
// What a controller knows comes to it through its lists and watches, and what it does goes out as
// requests. Both pass the Proxy as they are. What is in protobuf is read where client-go has the types:
// of the built-in kinds, and of metadata alone. Where nobody can read it here, JSON is asked for, and
// the log says so.
//
// proxy.go takes requests. exchange.go passes them on through package wire, and makes a step of each
// message: the answers of writes, lists, and the events of watches. The observer hands the steps on in
// order, and has them for the page. world.go knows the objects as they are, and whose they are. cause.go
// says because of what a write was sent, changes.go what it changed, and log.go makes a line of it,
// which the observer prints. rules.go says what is wasted or wrong, findings.go has what is known for
// that, and role.go which rights were used.
//
// # What is kept
//
// Of an object its fields, without managedFields, without annotations of over 256 bytes, and of a
// Secret without its data and annotations; at most 8,192 objects, and the newest 8,192 events of them. Of
// an object of over 8 KiB only its names are kept. Headers, and with them credentials, are never kept,
// and no answer of a subresource but status. An upgrade, logs and what goes through a proxy are not read.
//
// # What cannot be known
//
// The cause of a write is the latest event of the object that is written, of what owns it, of what has
// the same owner, or of what it owns, unless the program itself wrote what the event tells; else of an
// object whose name is a value in what is written. A reconcile sends each write once. So one that is
// sent again without such an event is a retry of one that failed, or was caused by the event of an own
// write. Otherwise the cause was not seen: a timer, another system. A write that waited for a limit of
// the client is told to have the latest cause, although it may have been decided on before. What a program
// lists that was started anew, and that has not changed meanwhile, is no cause.
package proxy
