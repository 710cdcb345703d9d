package main

import (
	"errors"
	"flag"
	"slices"
	"testing"
)

func TestParseFlags(t *testing.T) {
	o, err := parseFlags([]string{"--kubeconfig", "file", "--namespace", "ns", "--listen", "127.0.0.2:0"})
	if err != nil || o.connect.Kubeconfig != "file" || o.namespace != "ns" || o.inside() || !slices.Equal(o.hosts(), []string{"127.0.0.2"}) {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parseFlags([]string{"--listen", ":8443", "--service", "here/webhook"})
	if err != nil || !o.inside() || !slices.Equal(o.hosts(), []string{"webhook.here.svc"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"now"}, {"--no-such-flag"}, {"--service", "webhook"}, {"--service", "/webhook"}, {"--service", "here/"}} {
		if _, err := parseFlags(args); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: %v, want an error", args, err)
		}
	}
	if _, err := parseFlags([]string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}
