// Package playground is a cluster in one process, for a browser tab: the program of this
// repository, unchanged, beside an API server in memory, and a visitor who plays the user, the
// other programs and the bad luck.
//
//	visitor ─► Do ─► API server ◄── replica (api, clientset, informer, controller, observer)
//	                     ▲
//	                     └── others: a Deployment controller, the garbage collector
//
// # What is real
//
// All of the lesson, the observer, the leader election and client-go: they reach the API server
// through rest.Config.Transport and know of nothing else. Time is real, too. The site builds it
// with a client-go that knows no API group but those that the program uses: half the size.
//
// # What is played
//
//   - The API server is that of kit/testkit.
//   - The Deployment controller makes no Pods. It counts them available, one by one.
//   - A process is a few goroutines. One that is killed sends nothing more, and hears nothing;
//     what it had begun to compute ends by itself.
//   - main cannot be imported, so the wiring of a replica is written again: see replica.go.
//     There are no flags, no metrics and no servers in it.
//
// # Neighbours
//
// tab is the program for GOOS=js. The site builds it (make site), and its page is the one that
// make run serves.
package lab
