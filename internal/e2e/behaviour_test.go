//go:build integration

package e2e

import (
	"testing"

	"example.com/byhand/internal/behaviour"
)

// The clientset against a real API server: the same tests that the fake passes.
func TestBehaviour(t *testing.T) {
	s := newServer(t)
	behaviour.Test(t, behaviour.Subject{
		Client:    s.client,
		Namespace: func(t *testing.T) string { return newServer(t).namespace },
		Real:      true,
	})
}
