// Package scenario has the scenarios for a controller of Foos, and the steps that they consist of: what users and other
// programs do, and each fault. It imports packages stage and verdict.
package scenario
