// Package compare holds the hand-written code against what others make of the
// same types: the official sample-controller and its generated client. It is a
// module of its own, so that none of this is needed to build the rest.
package compare
