package main

import (
	"flag"
	"io"
	"slices"
	"testing"
)

// parse reads arguments.
func parse(args ...string) (o options, err error) {
	flags := flag.NewFlagSet("admission", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.define(flags)
	return o, flags.Parse(args)
}

// The certificate is for the Service, or for the address.
func TestHosts(t *testing.T) {
	o, err := parse("--kubeconfig", "file", "--namespace", "ns", "--listen", "127.0.0.2:0")
	if err != nil || o.kubeconfig != "file" || o.namespace != "ns" || o.inside() || !slices.Equal(o.hosts(), []string{"127.0.0.2"}) {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parse("--listen", ":8443", "--service", "here/webhook")
	if err != nil || !o.inside() || !slices.Equal(o.hosts(), []string{"webhook.here.svc"}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, service := range []string{"webhook", "/webhook", "here/"} {
		if _, err := parse("--service", service); err == nil {
			t.Errorf("%q is no error", service)
		}
	}
}
