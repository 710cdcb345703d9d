// Package webhook is what every server needs that the API server asks, of whatever kind: a
// registration that stays, an HTTPS server, and a handler with limits.
//
// Its neighbours: the chapters admission and versions bring the reviews and say what is
// registered; package serve has the HTTP server and its certificate.
//
// # Basics
//
//	certificate, err := serve.NewCertificate([]string{"127.0.0.1"}, serve.Lifetime)
//	server, err := webhook.Listen("127.0.0.1:0", false, certificate, handler)
//	go server.Run(ctx)                // answers at server.URL, https://127.0.0.1:PORT
//	err = webhook.Keep(ctx, install)  // install writes server.URL and certificate.Bundle()
//
// # Properties
//
//   - What others delete, change or add to the registration is as it was after Period, but for the
//     metadata.
//   - The process that registers last is the one that is asked. The others wait, and one of
//     them registers again when that one ends. The end of a process removes no registration
//     but its own.
//   - No key is written anywhere. A process that starts again has a new one, and a
//     certificate that is valid for longer than any process runs.
//
// # Caveats
//
//   - For that reason one process answers. Several behind one Service need one certificate,
//     from a Secret, and a process that renews it: its key outlives them all.
//   - Who writes another value into the annotation byhand/process is taken for another
//     process: the registration is not restored any more, and stays when this one ends.
//   - A process that was killed leaves its registration, and the others wait for it. The next
//     one that starts takes it over.
//   - The API server does not show a certificate of its own unless it is configured to, so
//     any client that reaches the server can ask it. A review must give away nothing and
//     change nothing.
package webhook
