// Command apiserver is an API server of one's own, on net/http, for Toppings, behind that of the
// cluster. Nothing here comes from k8s.io/apiserver.
//
//	cd chapters && go run ./apiserver --kubeconfig FILE
//
// Its neighbours: package restaurant has the type, package webhook writes the registration, package
// serve has the HTTP server and its certificate.
//
// # Properties
//
//   - Only the front proxy's certificate lets a client in, and the API server authorizes each request.
//   - One write happens at a time and sees all objects, so the budget holds.
//   - A restart begins empty, at a higher revision: no revision goes back.
//   - A watcher goes on at the revision that it has seen, or is told 410, as after a restart.
//   - What a request can take has a limit: bytes, depth, time, and how many there are at once, of all
//     users and of one. So have all objects together, and the history.
//
// # Caveats
//
//   - While the program is dead and its APIService stands, no namespace can be deleted. make
//     chapter-down takes it away.
//   - What one object takes is bounded by its size alone: some 50 ms. One user's large patches make the
//     requests of others slower, and the history short: a slow watcher is told 410.
//   - A second program in a cluster takes the registration over until it ends.
package main
