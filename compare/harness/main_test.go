package main

import (
	"strings"
	"testing"
)

// The page names a command that a shell understands as it was meant.
func TestCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"go run ./harness":                                          nil,
		"go run ./harness -rounds 4 -out /tmp/a":                    {"-rounds", "4", "-out", "/tmp/a"},
		`go run ./harness -components "" -peers "byhand|floor.*"`:   {"-components", "", "-peers", "byhand|floor.*"},
		`go run ./harness -scenarios "ColdStart: 5000" -out "it's"`: {"-scenarios", "ColdStart: 5000", "-out", "it's"},
	} {
		if got := command(args); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

func TestNoSuchPeer(t *testing.T) {
	_, _, err := newBench(options{peers: "byhand,floor"})
	if err == nil || !strings.Contains(err.Error(), `-peers "byhand,floor" matches none of byhand, byhand-tuned, sample-controller,`) {
		t.Errorf("%v", err)
	}
}
