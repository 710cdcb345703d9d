// Package webhook has the parts that every server called by the API server needs: a registration,
// an HTTPS server, and a handler with limits.
//
// Its neighbors: the chapters admission and versions have the reviews and the registered objects;
// package serve has the HTTP server and its certificate.
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
//   - So only one process serves. Several behind one Service need a common certificate, from a
//     Secret, and a process that renews it: its key outlives them.
//   - If another client deletes or changes a registration, it stays so until the next start.
//     Controllers that must restore it watch the object.
//   - Changing the annotation byhand/process makes it look like another process owns the
//     registration: it is not removed on exit.
//   - The API server sends no client certificate unless configured, so any client that reaches
//     the server can call it. A review must reveal nothing and change nothing.
package webhook
