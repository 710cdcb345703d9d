// Command versions converts Pizzas between v1alpha1 and v1beta1, for the API server that
// serves both and stores one. It is a conversion webhook, and installs itself.
//
//	cd chapters && go run ./versions --kubeconfig FILE
//
// Its neighbours: package conversion (chapters/restaurant) has the two functions that
// convert, and says what holds for them. Package webhook has the HTTPS server and its limits.
//
// # Properties
//
//   - v1beta1 is served only while this program converts. One write to the definition
//     brings the webhook and v1beta1, another one takes both away.
//   - The server answers until the API server does not ask any more.
//   - The webhook is taken away only if every Pizza is stored as v1alpha1, as config/crd
//     says. Otherwise it stays in the definition, and only the storage version is served.
//   - A review has at most 10 MB and takes at most 8 seconds, and 4 are converted at the same time.
//
// # Caveats
//
//   - Killed, it leaves a webhook that does not answer: README.md says what to do.
//   - Of several processes the last one that starts converts. The others change nothing when they end.
//   - It writes the definition at its start and at its end. If another client removes the webhook in
//     between, start it again.
package main
