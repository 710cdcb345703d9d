package main

import (
	"errors"
	"flag"
	"testing"
)

func TestParseFlags(t *testing.T) {
	o, err := parseFlags([]string{"--kubeconfig", "file", "--namespace", "ns", "--trace=json"})
	if err != nil || o.connect.Kubeconfig != "file" || o.namespace != "ns" || !o.trace.On() || o.connect.QPS >= 0 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"now"}, {"--no-such-flag"}, {"--trace=neither"}} {
		if _, err := parseFlags(args); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: %v, want an error", args, err)
		}
	}
	if _, err := parseFlags([]string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}
