// Package compare holds the hand-written code against what others make of the
// same types: the official sample-controller and its generated client, deepcopy-gen,
// and a controller on controller-runtime. It is a module of its own, so that none of
// this is needed to build the rest.
//
// README.md walks through the three forms of the controller. The tests here prove
// that they do the same; results/ shows what they cost.
//
//   - framework/: the controller as a user of kubebuilder writes it.
//   - webhook/: the webhook of chapters/admission, likewise, beside that one.
//   - floor/: the same writes without a controller.
//   - peers/: how each of them is built and started.
//   - harness/: what they are put through, and how it is measured.
//   - plane/: the control planes for that, and for the judge.
//   - judge/: puts any Foo controller to the test, from outside.
package compare
