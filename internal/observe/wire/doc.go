// Package wire reads the HTTP traffic between a program and its API server: requests, answers, and each
// event of a watch. Both sides get the same bytes as without it.
//
// Packages observer and look choose the requests to read, and make trace.Steps of the messages.
// transport.go reads the bytes, decode.go decodes objects in JSON and in protobuf.
package wire
