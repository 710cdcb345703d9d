// Package webhook is what every server needs that the API server asks, of whatever kind: a
// registration, an HTTPS server, and a handler with limits.
//
// Its neighbours: the chapters admission and versions bring the reviews and say what is
// registered; package serve has the HTTP server and its certificate.
//
// # Basics
//
//	certificate, err := serve.NewCertificate([]string{"127.0.0.1"}, serve.Lifetime)
//	server, err := webhook.Listen("127.0.0.1:0", false, certificate, handler)
//	go server.Run(ctx)                // answers at server.URL, https://127.0.0.1:PORT
//	err = object.Install(ctx)         // writes server.URL and certificate.Bundle()
//	defer object.Remove(…)            // before the server ends
//
// # Properties
//
//   - The API server asks the process that registers last. A process removes only its own
//     registration when it ends.
//   - No key is written anywhere. A process that starts again has a new one, and a
//     certificate that is valid for longer than any process runs.
//
// # Caveats
//
//   - For that reason one process answers. Several behind one Service need one certificate,
//     from a Secret, and a process that renews it: its key outlives them all.
//   - A registration that another client deletes or changes stays so until the next start.
//     Controllers that must not lose it watch the object, as they watch any other.
//   - A process that was killed leaves its registration. The next one that starts replaces it.
//   - The API server does not show a certificate of its own unless it is configured to, so
//     any client that reaches the server can ask it. A review must give away nothing and
//     change nothing.
package webhook
