// Package webhook has the parts of a server that the API server calls: a registration, an HTTPS
// server, and a handler with limits.
//
// The chapters admission and versions have the reviews and the registered objects; package serve has
// the HTTP server and its certificate.
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
//   - The API server calls the process that registered last. A process removes only its own
//     registration when it exits.
//   - No key is written anywhere. Each process creates a new one, with a certificate that is valid
//     for longer than any process runs.
//
// # Limitations
//
//   - Only one process serves. Several behind one Service need a common certificate, from a
//     Secret, and a process that renews it: its key outlives them.
//   - If another client deletes or changes a registration, the next start restores it. A
//     controller would watch the object, and restore it at once.
//   - If another client changes the annotation byhand/process, the program does not remove the
//     registration at its exit, as if another process had written it.
//   - The API server sends no client certificate unless configured, so any client that reaches
//     the server can call it. A review must reveal nothing and change nothing.
package webhook
