// Package simulation runs the controller against everything that can happen to it, in memory
// and in an order that a seed decides. It has only tests, on the API server of testkit.
package simulation
