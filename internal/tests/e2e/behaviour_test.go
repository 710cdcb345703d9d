//go:build integration

package e2e

import "testing"

// The clientset against a real API server: the same tests that the fake passes.
func TestBehaviour(t *testing.T) {
	behave(t, subject{
		Client:    newServer(t).client,
		Namespace: func(t *testing.T) string { return newServer(t).namespace },
		Real:      true,
	})
}
