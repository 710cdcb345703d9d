// Package wire reads along with the requests of a program to an API server: what is sent, what comes
// back, and each event of a watch. The program and the API server get the same bytes as without it.
//
// Packages observer and look say which requests to read, and make trace.Steps of the messages. transport.go
// reads, decode.go decodes objects in JSON and in protobuf.
package wire
