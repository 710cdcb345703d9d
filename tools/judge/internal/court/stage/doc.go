// Package stage runs a program for one scenario. A stage has a control plane or an in-memory API server, a
// namespace, a proxy in front of the program, and the process, which it restarts. It records the program's
// requests and has the ways to wait for the program. It imports package verdict.
package stage
