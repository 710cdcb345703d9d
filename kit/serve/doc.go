// Package serve has the HTTP server of a running program: one that takes its address first
// and serves later, says what to do about an address that it cannot have, and ends when it
// is told to. Health is what it answers for a controller: whether it is alive, whether it is
// ready, and what it counts. Certificate lets it speak TLS to clients that are given its Bundle.
//
// Its neighbours: main hands Health the checks (is it standing by, or are its stores in sync;
// is the Lease renewed) and package metrics' handler; package page has a handler of its own. The
// kubelet's probes, Prometheus and people with curl ask it.
//
// # Basics
//
//	server, err := serve.Listen("127.0.0.1:8080", false, serve.Health(serve.Options{
//		Ready:   []serve.Check{{Name: "informer-sync", Err: informersInSync}},
//		Metrics: m.Handler(),
//	}))
//	…
//	fmt.Println(server.URL)
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
//     refused (see OwnHost), and pprof only if asked for: a profile costs time
//     and shows what is in memory.
//   - A browser on this machine may ask for another site, under a name which that site
//     has resolve to 127.0.0.1. Wrap a handler in OwnHost to answer no such name.
//   - It limits how long a request and its answer may take. A handler that streams
//     sets deadlines of its own, with http.ResponseController.
//   - What a client does wrong is logged with package log.
//   - Health answers only GET and HEAD.
//   - net/http/pprof puts its handlers into http.DefaultServeMux. What is below /debug/pprof/
//     there is served if it is asked for, and nothing else of it.
package serve
