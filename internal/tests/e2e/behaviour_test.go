//go:build integration

package e2e

import (
	"testing"

	"example.com/byhand/clientset"
)

// The clientset against a real API server: the same tests that the fake passes.
func TestBehaviour(t *testing.T) {
	behave(t, true, func(t *testing.T) (clientset.Interface, string) {
		s := newServer(t)
		return s.client, s.namespace
	})
}
