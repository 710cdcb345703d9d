// Package e2e tests the whole program, built and run as its users run it, on a real API server.
//
//	make test        the tests with the tag integration
//	make coldstart   many Foos on etcd and kube-apiserver alone, tag bare
//
// The tests of the clients (clients_test.go) run with a fake, too, and need no server.
//
// Each test has its own namespace. Tests with t.Parallel run at the same time. A test whose controller
// watches all namespaces, or that changes shared objects, has no t.Parallel, so it runs alone.
package e2e
