// Package serve has the HTTP server of a running program. Listen takes the address first, and explains an
// address that it cannot use; Run serves until its context ends. Health serves liveness, readiness and
// metrics of a controller. Certificate is a self-signed certificate; clients that get its Bundle (PEM) trust it.
//
// Its neighbors: main passes the checks (leader election, informers) and the handler of package metrics
// to Health. The kubelet's probes, Prometheus and users with curl send the requests. Package page uses
// the same server with a different handler.
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
//	/healthz        200 "ok"; 503 with the failed checks means that a restart is needed
//	/readyz         200 "ok"; 503 with the failed checks means that the program is not ready
//	/metrics        metrics in Prometheus' text format
//	/debug/pprof/   profiles, if Options.Pprof is set
//
// A failing response lists each check with its reason, as the API server's does. With ?verbose, a
// passing response lists them, too.
//
// # Limitations
//
//   - There is no authentication: everyone who reaches the address can read everything. So the default
//     is a loopback address, where only localhost names are accepted (OwnHost), and pprof is off: a
//     profile costs time and shows the contents of the memory.
//   - A website can resolve its own name to 127.0.0.1, so that a browser on this machine sends requests
//     here (DNS rebinding). Wrap a handler in OwnHost to reject such names.
//   - The server limits the duration of a request and its response. A streaming handler sets its own
//     deadlines with http.ResponseController.
//   - Errors of clients are logged with package log.
//   - Health answers only GET and HEAD.
//   - net/http/pprof adds its handlers to http.DefaultServeMux. With Options.Pprof this server serves
//     the handlers below /debug/pprof/, and no others.
package serve
