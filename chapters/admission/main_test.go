package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
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

// Both webhooks are asked where the program is, and about its namespace.
func TestPlace(t *testing.T) {
	for want, at := range map[string]place{
		"https://127.0.0.1:1":  {url: "https://127.0.0.1:1", namespace: "ns", bundle: []byte("CA")},
		"Service here/webhook": {service: types.NamespacedName{Namespace: "here", Name: "webhook"}, namespace: "ns", bundle: []byte("CA")},
	} {
		mutating, validating, err := at.configurations()
		if err != nil || at.String() != want {
			t.Fatalf("%s (%v), want %s", at, err, want)
		}
		selects := mutating.Webhooks[0].NamespaceSelector
		if diff := cmp.Diff(map[string]string{"kubernetes.io/metadata.name": "ns"}, selects.MatchLabels); diff != "" {
			t.Errorf("namespaces (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(selects, validating.Webhooks[0].NamespaceSelector); diff != "" {
			t.Errorf("namespaces of the other webhook (-mutating +validating):\n%s", diff)
		}
		for path, asks := range map[string]admissionregistrationv1.WebhookClientConfig{"/mutate": mutating.Webhooks[0].ClientConfig, "/validate": validating.Webhooks[0].ClientConfig} {
			got := string(asks.CABundle) + " "
			if asks.URL != nil {
				got += *asks.URL
			} else {
				got += fmt.Sprintf("Service %s/%s%s", asks.Service.Namespace, asks.Service.Name, *asks.Service.Path)
			}
			if got != "CA "+want+path {
				t.Errorf("%s is asked at %s", path, got)
			}
		}
	}
}
