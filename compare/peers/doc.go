// Package peers names the programs that are compared, builds them and says how each
// is run.
//
// # Basics
//
// All are programs: what runs is what a user would run, with one file more, of ./liveheap. They
// act on the same CustomResourceDefinition, and are built from one go.mod, so that they share the
// versions of client-go and of everything below it.
//
//   - byhand: the controller of this repository, as `go run main.go` starts it.
//   - sample-controller: Kubernetes' own example, as its module has it.
//   - sample-controller-tuned: the same without its limit of requests, with as many
//     workers as byhand, and with the same clock: tune.go.
//   - controller-runtime: ../framework with the defaults of controller-runtime.
//   - controller-runtime-tuned: the same with the options that its documentation offers
//     for speed and memory.
//   - …-silent: the one before it, but it sends no Events.
//   - floor, floor-watch: ../floor, which is no controller but what the API
//     server can do.
package peers
