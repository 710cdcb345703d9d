// Command apiserver is a separate API server for Toppings, behind the cluster's API server. Nothing
// here comes from k8s.io/apiserver.
//
//	cd chapters && go run ./apiserver --kubeconfig FILE
//
//	API server → authenticate → authorize → kit/testkit's API server in memory
//
// It uses these packages: testkit stores the objects and answers requests, webhook writes the
// registration, serve has the HTTP server and its certificate.
//
// # Properties
//
//   - Only a client with the front proxy's certificate is accepted, and the cluster's API server
//     authorizes each request.
//   - One write happens at a time and sees all objects, so the budget holds.
//   - A restart begins empty, at a higher version: no version is used twice.
//   - A watch continues at the version that it has seen, or gets 410, as after a restart.
//
// # Limitations
//
//   - While the program is down and its APIService exists, no namespace can be deleted. make
//     chapter-down removes the APIService.
//   - Nothing limits how much one user stores or how many requests a user sends.
//   - A second program in a cluster takes over the registration until it ends.
package main
