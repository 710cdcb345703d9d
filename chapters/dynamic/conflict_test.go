package main

import (
	"strings"
	"testing"
)

// Two writers who have both read before either writes: one of them is refused, in each
// round, and no update is lost.
func TestCollide(t *testing.T) {
	stdout, _, err := newServer(t).dynamic(t, "collide fo example-foo")
	refused := strings.Count(stdout, "writer 2 reads again: Operation cannot be fulfilled")
	const want = "\n10 updates, 5 conflicts: byhand.example.com/count went from 0 to 10\n"
	if err != nil || refused != rounds || !strings.HasSuffix(stdout, want) {
		t.Errorf("%d are refused, %v, want %d and %q:\n%s", refused, err, rounds, want, stdout)
	}
}
