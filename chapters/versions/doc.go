// Command versions is a conversion webhook: it converts Pizzas between v1alpha1 and v1beta1
// for the API server, which serves both and stores one. It installs itself.
//
//	cd chapters && go run ./versions --kubeconfig FILE
//
// Package conversion (chapters/restaurant) has the two functions that convert, and their
// properties. Package webhook has the HTTPS server and its limits.
//
// # Properties
//
//   - v1beta1 is served only while this program converts. One write to the definition
//     adds the webhook and v1beta1, a second one removes both.
//   - The server responds until the API server stops calling it.
//   - The webhook is removed only if every Pizza is stored as v1alpha1, as config/crd
//     specifies. Otherwise it stays, and only the storage version is served.
//   - A review has at most 10 MB and takes at most 8 seconds. At most 4 run at the same time.
//
// # Limitations
//
//   - If killed, it leaves a webhook that does not respond: README.md explains what to do.
//   - If several processes run, the one that started last converts. The others change nothing
//     at exit.
//   - It writes the definition only at its start and end. If another client removes the webhook,
//     restart it.
package main
