//go:build integration

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/webhook"
)

// TestFailures is the table in README.md: what may be wrong with a webhook, what the API
// server says of it, and that with Ignore the request passes.
func TestFailures(t *testing.T) {
	allow := (&reviewer{
		has:  func(context.Context, string) (bool, error) { return true, nil },
		said: func(string, ...any) {},
	}).handler()
	answers := func(answer any) http.Handler {
		return webhook.Review(webhook.DefaultLimits, func(context.Context, []byte) (any, error) { return answer, nil })
	}
	panics := webhook.Review(webhook.DefaultLimits, func(context.Context, []byte) (any, error) { panic("no such luck") })
	sleeps := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	noUID := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{"allowed": true}}
	twoHoursAgo := func() time.Time { return time.Now().Add(-2 * time.Hour) }
	other, err := webhook.NewAuthority([]string{"127.0.0.1"}, webhook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	for _, test := range []struct {
		reason  string
		handler http.Handler
		host    string // the certificate's, if not 127.0.0.1
		options webhook.Options
		bundle  []byte // nil is the right one
		down    bool
		says    string
	}{
		{reason: "it is down", handler: allow, down: true, says: "connect: connection refused"},
		{reason: "it is slow", handler: sleeps, says: "context deadline exceeded"},
		{reason: "its certificate has expired", handler: allow, options: webhook.Options{CA: time.Hour, Now: twoHoursAgo}, says: "certificate has expired"},
		{reason: "its certificate is for another name", handler: allow, host: "webhook.elsewhere.svc", says: "doesn't contain any IP SANs"},
		{reason: "the bundle is another CA's", handler: allow, bundle: other.Bundle(), says: "certificate signed by unknown authority"},
		{reason: "it panics", handler: panics, says: "no such luck"},
		{reason: "it answers something else", handler: answers("yes"), says: "couldn't get version/kind"},
		{reason: "it answers without the uid", handler: answers(noUID), says: "expected response.uid="},
		{reason: "its path is not found", handler: http.NotFoundHandler(), says: "could not find the requested resource"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if !bytes.Contains(readme, []byte("`"+test.says+"`")) {
				t.Errorf("README.md does not have the words %q", test.says)
			}
			c := c.in(t)
			authority, url, stop := c.serve(test.handler, cmp.Or(test.host, "127.0.0.1"), test.options)
			if test.down {
				stop()
			}
			if test.bundle == nil {
				test.bundle = authority.Bundle()
			}

			registration := c.registration()
			registration.url = url
			_, configuration, err := registration.configurations(test.bundle)
			if err != nil {
				t.Fatal(err)
			}
			// A second is the least.
			configuration.Webhooks[0].TimeoutSeconds = new(int32(1))
			client := c.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
			created, err := client.Create(t.Context(), configuration, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			c.Eventually("with Fail it is refused, and "+test.says, func() error {
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
