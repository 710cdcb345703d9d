// Command admission is a webhook that the API server asks before it stores a Pizza. A pizza
// that names no toppings gets tomato, mozzarella and salami. One with a topping that does
// not exist is refused, by name.
//
//	cd chapters && go run ./admission --kubeconfig FILE
//
// Its neighbours: package webhook, beside the chapters, has the certificate, the HTTPS server
// and the registration, package v1alpha1 of chapters/restaurant the types,
// and the core's package informer keeps the Toppings in memory.
//
// # Basics
//
// A webhook is the last of five places for a default or a refusal, and the dearest one. The
// four before it, which need no program, are in config/places.
//
// # Properties
//
//   - Nothing is stored, so a dry run is answered as any other request.
//   - What a pizza has already is never refused. Without that, a pizza whose topping is gone
//     could not be changed, and one with a finalizer could not be deleted.
//   - What cannot be decided is no decision: an error, and the failurePolicy makes it.
//   - One review has at most 10 MB and takes 5 seconds at most. 4 are decided at the same time.
//   - At its end the program removes its registration first, and answers a second longer.
//
// # Caveats
//
//   - A program that was killed leaves its registration. With failurePolicy Fail every change
//     of a Pizza is refused then, the removal of a finalizer included. It ends when the
//     program is back, or with make chapter-down.
//   - Every Pizza passes while there is no registration: until an API server has seen it, some
//     milliseconds after the start, and if another client deletes it, until the next start.
//   - It races: a topping may be deleted between the answer and the moment when the pizza is
//     stored. Only what stores both can rule that out, as the chapter apiserver
//     does with its budget.
//   - A pizza is looked at when it is written. What is stored already stays as it is.
//   - Of several processes the API server asks the one that has started last.
package main
