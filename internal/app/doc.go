// Package app is the program around the controller: its flags, its log, and what shows it to people. main.go
// wires the controller.
package app
