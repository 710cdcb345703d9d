//go:build integration && long

package main

func init() { long = true }
