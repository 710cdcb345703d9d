//go:build integration

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/chapters/internal/webhook"
)

// things is a definition whose webhook is the test's. Its objects belong to no namespace, so
// no namespace waits for it to be repaired.
type things struct {
	*chaptertest.Cluster
	rest  rest.Interface
	group string
}

func newThings(t *testing.T) *things {
	t.Helper()
	c := &things{Cluster: chaptertest.New(t)}
	c.group = c.Namespace + ".example.com"
	config := rest.CopyConfig(c.Config)
	config.Timeout = time.Minute // The API server waits half as long for the webhook.
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c.rest = client.RESTClient()
	t.Cleanup(func() {
		c.Kubectl("patch", "crd", "things."+c.group, "--type=merge", "-p", `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
		c.Kubectl("delete", "crd", "things."+c.group, "--wait=false")
	})
	return c
}

// ask makes url the webhook of the definition. bundle is whom the API server trusts there.
func (c *things) ask(url string, bundle []byte) {
	c.Helper()
	const schema = `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
	converts, err := json.Marshal(conversionSpec{"Webhook", &conversionWebhook{clientConfig{url, bundle}, []string{"v1"}}})
	if err != nil {
		c.Fatal(err)
	}
	c.Apply(fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.%s"},"spec":{
		"group":"%[1]s","scope":"Cluster","names":{"kind":"Thing","plural":"things"},"conversion":%s,
		"versions":[{"name":"v1","served":true,"storage":true,"schema":%[3]s},{"name":"v2","served":true,"storage":false,"schema":%[3]s}]}}`,
		c.group, converts, schema))
}

// create sends a Thing of v2, which is converted because v1 is stored.
func (c *things) create(name string) error {
	return c.rest.Post().AbsPath("/apis", c.group, "v2", "things").Body(fmt.Appendf(nil, `{"apiVersion":"%s/v2","kind":"Thing","metadata":{"name":"%s"}}`, c.group, name)).Do(c.Context()).Error()
}

// answer is what a webhook that works would send, and its parts.
type answer struct{ review, response, object, metadata map[string]any }

// answers is a webhook that changes its answer before it sends it.
func answers(change func(a answer)) http.Handler {
	return webhook.Review(limits, func(_ context.Context, body []byte) (any, error) {
		asked := struct {
			Request struct {
				UID, DesiredAPIVersion string
				Objects                []map[string]any
			}
		}{}
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		object := maps.Clone(asked.Request.Objects[0])
		object["apiVersion"] = asked.Request.DesiredAPIVersion
		response := map[string]any{"uid": asked.Request.UID, "convertedObjects": []any{object}, "result": map[string]any{"status": "Success"}}
		review := map[string]any{"apiVersion": reviewType.APIVersion, "kind": reviewType.Kind, "response": response}
		change(answer{review, response, object, object["metadata"].(map[string]any)})
		return review, nil
	})
}

// What may be wrong with a webhook, and what the API server says of it: the table in
// README.md. A request that needs a conversion fails, each time.
func TestFailures(t *testing.T) {
	t.Parallel()
	c := newThings(t)
	right := answers(func(answer) {})
	other := newAuthority(t, "127.0.0.1", webhook.Options{})
	for _, test := range []struct {
		reason  string
		handler http.Handler
		host    string
		options webhook.Options
		bundle  []byte // nil is the right one
		down    bool
		says    string
		or      string // what it may say instead
	}{
		{reason: "it is down", handler: right, down: true, says: "connect: connection refused"},
		{reason: "it is slow", handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), says: "context deadline exceeded", or: "Client.Timeout exceeded while awaiting headers"},
		{reason: "its certificate has expired", handler: right, options: webhook.Options{CA: time.Hour, Now: func() time.Time { return time.Now().Add(-2 * time.Hour) }}, says: "certificate has expired"},
		{reason: "its certificate is for another name", handler: right, host: "webhook.elsewhere.svc", says: "doesn't contain any IP SANs"},
		{reason: "its CA is not in caBundle", handler: right, bundle: other.Bundle(), says: "certificate signed by unknown authority"},
		{reason: "it panics", handler: answers(func(answer) { panic("no oven") }), says: "panic: no oven"},
		{reason: "it answers Failure", handler: answers(func(a answer) { a.response["result"] = map[string]any{"status": "Failure", "message": "no cheese"} }), says: "failed: no cheese"},
		{reason: "another kind of review", handler: answers(func(a answer) { a.review["kind"] = "AdmissionReview" }), says: "AdmissionReview"},
		{reason: "another uid", handler: answers(func(a answer) { a.response["uid"] = "" }), says: "expected response.uid="},
		{reason: "less objects", handler: answers(func(a answer) { a.response["convertedObjects"] = []any{} }), says: "returned 0 objects, expected 1"},
		{reason: "another version", handler: answers(func(a answer) { a.object["apiVersion"] = c.group + "/v2" }), says: "invalid groupVersion"},
		{reason: "another kind", handler: answers(func(a answer) { a.object["kind"] = "Pizza" }), says: "invalid kind"},
		{reason: "another name", handler: answers(func(a answer) { a.metadata["name"] = "other" }), says: "must have the same name"},
		{reason: "another UID", handler: answers(func(a answer) { a.metadata["uid"] = "1" }), says: "must have the same UID"},
		{reason: "a label that is none", handler: answers(func(a answer) { a.metadata["labels"] = map[string]any{"a": "no label!"} }), says: "metadata.labels"},
	} {
		authority := newAuthority(t, cmp.Or(test.host, "127.0.0.1"), test.options)
		url, stop := c.serve(authority, test.handler)
		if test.down {
			stop()
		}
		if test.bundle == nil {
			test.bundle = authority.Bundle()
		}
		c.ask(url, test.bundle)
		c.Eventually(test.reason, func() error {
			err := c.create("bad")
			if text := fmt.Sprint(err); strings.Contains(text, "conversion webhook for ") && (strings.Contains(text, test.says) || test.or != "" && strings.Contains(text, test.or)) {
				return nil
			}
			return fmt.Errorf("%v, want %s", err, test.says)
		})
		stop()
	}
}

// Of the metadata the API server takes labels and annotations. The rest stays as it was,
// without a word.
func TestMetadata(t *testing.T) {
	t.Parallel()
	c := newThings(t)
	authority := newAuthority(t, "127.0.0.1", webhook.Options{})
	url, stop := c.serve(authority, answers(func(a answer) {
		for _, taken := range []string{"labels", "annotations"} {
			a.metadata[taken] = map[string]any{"from": "webhook"}
		}
		a.metadata["finalizers"] = []any{"example.com/from-webhook"}
	}))
	defer stop()
	c.ask(url, authority.Bundle())
	c.Eventually("create", func() error {
		if err := c.create("good"); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
	got := metav1.PartialObjectMetadata{}
	if err := send(t.Context(), c.rest.Get().AbsPath("/apis", c.group, "v1", "things", "good"), &got); err != nil {
		t.Fatal(err)
	}
	if got.Labels["from"] != "webhook" || got.Annotations["from"] != "webhook" || got.Finalizers != nil {
		t.Errorf("stored are labels %v, annotations %v, finalizers %v", got.Labels, got.Annotations, got.Finalizers)
	}
}

func newAuthority(t *testing.T, host string, options webhook.Options) *webhook.Authority {
	t.Helper()
	authority, err := webhook.NewAuthority([]string{host}, options)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

// serve answers at url until stop is called.
func (c *things) serve(authority *webhook.Authority, handler http.Handler) (url string, stop func()) {
	c.Helper()
	server, err := webhook.Listen("127.0.0.1:0", false, authority, handler)
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return server.URL, sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.Error(err)
		}
	})
}
