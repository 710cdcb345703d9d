// Command versions converts Pizzas between v1alpha1 and v1beta1, for the API server that
// serves both and stores one. It is a conversion webhook, and installs itself.
//
//	cd chapters && go run ./versions --kubeconfig FILE
//	cd chapters && go run ./versions --kubeconfig FILE migrate
//	cd chapters && go run ./versions stored NAMESPACE/NAME
//
// Its neighbours: package conversion (chapters/restaurant) has the two functions that
// convert, and says what holds for them. Package webhook has the HTTPS server, its
// certificate, and the loop that looks at the definition.
//
// # Basics
//
//   - review.go: what the API server asks and what it is answered, four structs by hand.
//   - definition.go: the CustomResourceDefinition, which names the webhook and says which
//     versions are served and which one is stored.
//   - migrate.go: writes each Pizza once more, so that it is stored in the storage version.
//   - stored.go: reads what is stored, from etcd.
//   - main.go: the wiring. What is installed at the start is taken away at the end.
//
// # Properties
//
//   - v1beta1 is served only while this program converts. One write to the definition
//     brings the webhook and v1beta1, another one takes both away. What others change of that
//     is restored after 5 seconds.
//   - A migration begins when the API server stores the new version, and no write that began
//     before can end any more. So it takes half a minute.
//   - The server answers until the API server does not ask any more.
//   - The webhook is taken away only if every Pizza is stored as v1alpha1, as config/crd
//     says. Otherwise it stays in the definition, and only the storage version is served.
//     The strategy None would hand out v1beta1 under the name of v1alpha1.
//   - A review takes a bounded amount of memory and time, whatever is in it.
//
// # Caveats
//
//   - Killed, it leaves a webhook that does not answer: see README.md. `make chapter-down`
//     takes it away, and so does the next run that ends in peace.
//   - Of several processes the last one that starts converts. The others wait until it ends.
//   - With several API servers, a migration sees what one of them stores. Wait some seconds
//     between the switch and the migration.
package main
