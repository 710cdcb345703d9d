// Package serve is the HTTP server that answers for a running program: whether it
// is alive, whether it is ready, and what it counts.
//
// Its neighbours: main hands it the checks (are the caches in sync, is the Lease
// renewed) and package metrics' handler. The kubelet's probes, Prometheus and
// people with curl ask it.
//
// # Basics
//
//	server, err := serve.Listen("127.0.0.1:8080", serve.Options{
//		Ready:   []serve.Check{{Name: "informer-sync", Err: informersInSync}},
//		Metrics: m.Handler(),
//	})
//	…
//	go server.Run(ctx)
//
//	/healthz        200 "ok", or 503 and the checks: restart it
//	/readyz         200 "ok", or 503 and the checks: do not rely on it yet
//	/metrics        what it counts, in Prometheus' text form
//	/debug/pprof/   profiles, if asked for
//
// A failing answer lists each check, as the API server's own does, with the
// reason; with ?verbose a good one does, too.
//
// # Caveats
//
//   - There is no authentication: who reaches the address may read everything.
//     Hence a loopback address by default, where other names than localhost are
//     refused (see listen.OwnHost), and pprof only if asked for: a profile costs time
//     and shows what is in memory.
//   - Only GET and HEAD are answered.
//   - net/http/pprof puts its handlers into http.DefaultServeMux, too. Nothing
//     here serves that.
package serve
