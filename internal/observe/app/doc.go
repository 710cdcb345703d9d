// Package app surrounds the controller: flags, log, and the view, which shows the program to people. main.go
// wires the controller itself.
package app
