// Package scenario has the scenarios for a controller of Foos, and their steps: actions of users and other
// programs, and faults. It imports packages stage and verdict.
package scenario
