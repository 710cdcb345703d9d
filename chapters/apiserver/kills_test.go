//go:build integration && !long

package main

// kills are how often TestKilled kills the program. make test-long has more.
const kills = 10
