//go:build integration

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/webhook"
	"example.com/byhand/kit/serve"
)

// TestFailures checks the table in README.md.
func TestFailures(t *testing.T) {
	allow := newKitchen("tomato").handler()
	answers := func(answer any) http.Handler {
		return webhook.Review(func(context.Context, []byte) (any, error) { return answer, nil })
	}
	panics := webhook.Review(func(context.Context, []byte) (any, error) { panic("no such luck") })
	sleeps := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) })
	noUID := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{"allowed": true}}
	certificate := func(host string, lifetime time.Duration) *serve.Certificate {
		certificate, err := serve.NewCertificate([]string{host}, lifetime)
		if err != nil {
			t.Fatal(err)
		}
		return certificate
	}
	right, other := certificate("127.0.0.1", time.Hour), certificate("127.0.0.1", time.Hour)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	for _, test := range []struct {
		reason  string
		handler http.Handler
		shown   *serve.Certificate // nil is the right one
		trusted *serve.Certificate // nil means the same as shown
		down    bool
		says    string
	}{
		{reason: "it is down", handler: allow, down: true, says: "connect: connection refused"},
		{reason: "it is slow", handler: sleeps, says: "context deadline exceeded"},
		{reason: "its certificate has expired", handler: allow, shown: certificate("127.0.0.1", -time.Second), says: "certificate has expired"},
		{reason: "its certificate is for another name", handler: allow, shown: certificate("webhook.elsewhere.svc", time.Hour), says: "doesn't contain any IP SANs"},
		{reason: "the bundle has a different certificate", handler: allow, trusted: other, says: "certificate signed by unknown authority"},
		{reason: "it panics", handler: panics, says: "no such luck"},
		{reason: "it sends a different kind of response", handler: answers("yes"), says: "couldn't get version/kind"},
		{reason: "its response has no uid", handler: answers(noUID), says: "expected response.uid="},
		{reason: "its path is not found", handler: http.NotFoundHandler(), says: "could not find the requested resource"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if !bytes.Contains(readme, []byte("`"+test.says+"`")) {
				t.Errorf("README.md lacks the words %q", test.says)
			}
			c := c.in(t)
			shown := cmp.Or(test.shown, right)
			server := httptest.NewUnstartedServer(test.handler)
			server.TLS = shown.TLS()
			server.StartTLS()
			defer server.Close()
			if test.down {
				server.Close()
			}
			at := place{url: server.URL, namespace: c.Namespace, bundle: cmp.Or(test.trusted, shown).Bundle()}
			_, configuration, err := at.configurations()
			if err != nil {
				t.Fatal(err)
			}
			// The minimum is a second.
			configuration.Webhooks[0].TimeoutSeconds = new(int32(1))
			client := c.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
			created, err := client.Create(t.Context(), configuration, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			c.Eventually("with Fail it is rejected with "+test.says, func() error {
				_, err := c.order("tomato")
				if err == nil || !strings.Contains(err.Error(), `webhook "toppings.restaurant.programming-kubernetes.info"`) || !strings.Contains(err.Error(), test.says) {
					return fmt.Errorf("got %v", err)
				}
				return nil
			})
			created.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
			if _, err := client.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.Eventually("with Ignore it passes", func() error {
				_, err := c.order("tomato")
				return err
			})
		})
	}
}
