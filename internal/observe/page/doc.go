// Package page shows the steps of a running program, or of a recording, as a
// picture in a browser: the flow of the README, each object a token that travels
// it, and the history of each object.
//
// Its neighbours: a trace.History, live or of a recording, hands it the steps, main or the
// command replay gives it an address. It only reads.
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
// A browser gets what the History has kept, and then each new step. Each event has
// an id, PROCESS-SEQ. A browser that comes back with the last one it has seen is
// sent what came after, or, if that was another process, is told so and begins
// anew.
//
// static/ has a file for each part of the page. feed.js receives, history.js keeps,
// player.js says where in time the page is, world.js what is so at that time, and
// picture.js (with scene.js, moves.js and token.js), panel.js and tables.js show it,
// each kind as kinds.js says. The playground of the site (make site) uses the same files, except for
// feed.js: it has no server to ask.
//
// # Caveats
//
//   - There is no authentication: who reaches the address may read each object that
//     the steps show. Hence loopback alone, unless Options.Remote, and only requests
//     that name this very host, with any port: see serve.OwnHost.
//   - A browser that does not read is dropped after ten seconds. What it misses in
//     that time is lost to it, and the page says how many steps those are.
//   - At most 16 connections at a time. A browser opens at most six to one host, so
//     that a seventh tab waits.
package page
