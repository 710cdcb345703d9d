// Package listen has an HTTP server that takes its address first and serves later,
// says what to do about an address that it cannot have, and ends when it is told to.
//
// Its neighbours: packages serve and page hand it their handlers.
//
// # Basics
//
//	server, err := listen.Listen("127.0.0.1:8080", false, func(bound *net.TCPAddr) http.Handler { return handler })
//	…
//	fmt.Println(server.URL)
//	go server.Run(ctx)
//
// # Caveats
//
//   - A browser on this machine may ask for another site, under a name which that site
//     has resolve to 127.0.0.1. Wrap a handler in OwnHost to answer no such name.
//   - It limits how long a request and its answer may take. A handler that streams
//     sets deadlines of its own, with http.ResponseController.
//   - What a client does wrong is logged with package log.
package listen
