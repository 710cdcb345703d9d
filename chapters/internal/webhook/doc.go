// Package webhook is what every webhook of the API server needs, of whatever kind: a
// certificate that renews itself, an HTTPS server, and a handler with limits.
//
// Its neighbours: the chapters admission and versions bring the reviews and install the
// bundle; package listen has the HTTP server.
//
// # Basics
//
//	authority, err := webhook.NewAuthority([]string{"127.0.0.1"}, webhook.Options{})
//	server, err := webhook.Listen("127.0.0.1:0", false, authority, handler)
//	go server.Run(ctx)            // answers at server.URL, https://127.0.0.1:PORT
//	authority.Run(ctx, install)   // install writes the bundle where the API server finds it
//
// # Properties
//
//   - The bundle that is installed trusts the certificate that is served, at any time: a
//     new CA is installed beside the old one, then the server changes, then the old one
//     goes.
//   - Each certificate is replaced when two thirds of its time are over.
//   - No key is written anywhere. A process that starts again has a new CA.
//
// # Caveats
//
//   - For that reason it is one process. Several behind one Service need the CA from one
//     place, a Secret, and whoever renews it must be one of them.
//   - The API server does not show a certificate of its own unless it is configured to, so
//     anybody who reaches the server can ask it. A review must give away nothing and
//     change nothing.
package webhook
