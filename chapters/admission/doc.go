// Command admission is a webhook that the API server calls before it stores a Pizza. A pizza
// without toppings gets tomato, mozzarella and salami. A pizza with a topping that does not
// exist is rejected, with the topping's name.
//
//	cd chapters && go run ./admission --kubeconfig FILE
//
// It uses these packages: webhook in chapters/internal for the HTTPS server and the
// registration, v1alpha1 in chapters/restaurant for the types, and the core's informer, which
// keeps the Toppings in memory.
//
// # Basics
//
// A webhook is the last of five places for a default or a validation, and the most expensive
// one. The other four need no program; they are in config/places.
//
// # Properties
//
//   - Nothing is stored, so a dry run is handled like any other request.
//   - Toppings that a pizza already has are never rejected. Otherwise a pizza whose topping is
//     gone could not be changed, and one with a finalizer could not be deleted.
//   - If a review fails with an error, the failurePolicy decides.
//   - A review has at most 10 MB and takes at most 5 seconds. At most 4 run at once.
//   - At its end the program removes its registration first, and responds for another second.
//
// # Limitations
//
//   - A killed program leaves its registration. With failurePolicy Fail every change of a
//     Pizza is rejected then, even the removal of a finalizer, until the program runs again
//     or make chapter-down removes the registration.
//   - Every Pizza passes in the first milliseconds, until each API server has seen the
//     registration. If another client deletes it, every Pizza passes until the next start.
//   - A topping may be deleted between the response and the write of the pizza. Only the
//     server that stores both can prevent that, as the chapter apiserver does for its budget.
//   - A pizza is checked when it is written. Stored pizzas are not checked again.
//   - If several processes run, the API server calls the one that started last.
package main
