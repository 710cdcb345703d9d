//go:build integration && !long

package main

const long = false
