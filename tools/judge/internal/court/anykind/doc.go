// Package anykind judges a controller of any kind. It learns the right results from runs without a fault, by
// a script on a control plane or from a sample in memory. Runs with a fault must end the same way. It imports
// packages scenario, stage and verdict.
package anykind
