// Package lab is a cluster in one process, for a browser tab: the unchanged controller of this
// repository, an API server in memory, and a visitor who creates objects and injects failures.
//
//	visitor ─► Do ─► API server ◄── replica (api, clientset, informer, controller, observer)
//	                     ▲
//	                     └── others: a Deployment controller, the garbage collector
//
// # Real
//
// All code of the lesson, the observer, the leader election, client-go and time. client-go reaches the
// API server through rest.Config.Transport. The site builds it without the API groups that nothing
// here uses, which halves its size.
//
// # Simulated
//
//   - The API server is kit/testkit's.
//   - The Deployment controller makes no Pods. It counts them available, one by one.
//   - A process is a few goroutines. A killed process sends and receives nothing more, but a
//     computation that has begun continues to its end.
//   - main cannot be imported, so replica.go repeats its wiring, without flags, metrics and servers.
//
// # Neighbors
//
// tab is the program for GOOS=js, which make site builds. web/ has the scripts of the page; they extend
// the page of make run. lessons.json has the lessons, the bugs and the buttons.
package lab
