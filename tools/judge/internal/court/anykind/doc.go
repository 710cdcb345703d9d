// Package anykind judges a controller of any kind. It learns the right results from runs without a fault, by
// a script on a control plane or from a sample in memory. It compares runs with a fault with these. It
// imports packages scenario, stage and verdict.
package anykind
