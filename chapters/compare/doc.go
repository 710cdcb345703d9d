// Package compare compares the hand-written code with generated code and with a framework: the
// official sample-controller and its generated client, deepcopy-gen, and a controller on
// controller-runtime. It is a separate module, so that the other modules need none of them.
//
// README.md walks through the three forms of the controller. The tests here prove
// that they do the same.
//
//   - framework/: the controller as a user of kubebuilder writes it.
//   - harness/: measures a cold start of the three forms.
//   - results/: one measurement, and the judge's verdicts.
package compare
