//go:build integration && long

package main

// long is set by make test-long.
const long = true
