// Package e2e holds the tests that need a real API server: the program as a
// whole, built and run as its users run it.
//
//	make test        starts a control plane of its own for the tests with the tag
//	                 integration, and a bare one (etcd and kube-apiserver alone) for
//	                 those with the tag bare
//	make test-long   the tests that take minutes, tag long
//	make coldstart   measures many Foos on a bare one
//
// Each test works in a namespace of its own.
package e2e
