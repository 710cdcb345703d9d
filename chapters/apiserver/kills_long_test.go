//go:build integration && long

package main

const kills = 100
