// Package stage runs a program for one scenario: a control plane or an API server in memory, a namespace, a proxy in front
// of the program, and the process itself, which it restarts. It records what the program does and has the ways to wait for it.
// It imports package verdict.
package stage
