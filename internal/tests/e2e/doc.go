// Package e2e holds the tests that need a real API server: the program as a
// whole, built and run as its users run it. Those of the clients (clients_test.go) a
// fake must pass as well, and they run without a server, too.
//
//	make test        starts a control plane for the tests with the tag integration
//	make test-all    the failovers, tag long, and those with the tag bare on etcd and
//	                 kube-apiserver alone
//	make coldstart   measures many Foos on a bare one
//
// Each test works in a namespace of its own. Most tests with the tag integration
// run side by side, because most of their time is waiting. A test whose controller
// watches every namespace, or that changes what all tests share, has no t.Parallel:
// go test runs it alone, before those.
package e2e
