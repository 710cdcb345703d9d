// Package page shows the steps of a running program, or of a recording, as a picture in a browser. The
// picture is the flow of the README. Each object is a token that travels through it, and has a history.
//
// Its neighbors: a trace.History, live or of a recording, provides the steps; main or the command replay
// provides the address. The page only reads.
//
// # Basics
//
//	server, err := page.Listen("127.0.0.1:8081", observer.History, page.Options{})
//	…
//	go server.Run(ctx)
//
//	/       the page: plain HTML, CSS, SVG and ES modules from static/, as they are
//	/steps  the steps, as server-sent events
//
// A browser gets the steps that the History has kept, and then each new step. Each event has an id,
// PROCESS-SEQ. A browser that reconnects sends its last id, and gets the later steps, or all steps if
// the process has changed.
//
// static/ has a file for each part of the page. The playground of the site (make site) uses the same
// files except for feed.js, which receives the steps: it has no server.
//
// # Limitations
//
//   - There is no authentication: anyone who can reach the address can read each object in the steps.
//     So the page is on loopback only, unless Options.Remote is set, and accepts only requests that name
//     this very host, with any port: see serve.OwnHost.
//   - A browser that is too slow misses steps. The page shows how many.
//   - A browser opens at most six connections to one host, so that a seventh tab waits.
package page
