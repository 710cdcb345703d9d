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
//   - judged/: puts them through the judge, which is in the folder judge of the root.
package compare
