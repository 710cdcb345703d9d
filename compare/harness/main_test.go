package main

import (
	"strings"
	"testing"
)

func TestNoSuchPeer(t *testing.T) {
	_, _, err := newBench(options{peers: "byhand,floor"})
	if err == nil || !strings.Contains(err.Error(), `-peers "byhand,floor" matches none of byhand, byhand-tuned, sample-controller,`) {
		t.Errorf("%v", err)
	}
}
