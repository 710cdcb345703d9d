// Package e2e holds the tests that need a real API server: the program as a
// whole, built and run as its users run it.
//
//	make test        starts a control plane of its own for them
//	make coldstart   measures many Foos on etcd and kube-apiserver alone
//
// Each test works in a namespace of its own.
package e2e
