//go:build integration

package main

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// A write that began before the switch is stored in the old version when it ends. A migration
// waits for it: otherwise the definition would not say that version any more, and who drops it
// would have an object that no client can read.
func TestSlowWrite(t *testing.T) {
	c := newCluster(t)
	c.start()
	client, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	send, answered := c.beginCreate(client)
	c.storeBeta()
	migration := c.Start("--kubeconfig", c.account, "migrate")
	migration.Prints(1, "waiting for writes that began before|storedVersions is")
	if _, err := io.WriteString(send, `"toppings":["salami"]}}`); err != nil {
		t.Fatal(err)
	}
	_ = send.Close()
	if status := <-answered; !strings.HasPrefix(status, "201") {
		t.Errorf("the slow write: %s", status)
	}
	if code := migration.Exit(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	pizza, err := stored(t.Context(), c.etcd, c.Namespace+"/slow")
	if err != nil || pizza.APIVersion != group+"/v1beta1" {
		t.Errorf("etcd has %s (%v), want v1beta1", pizza.APIVersion, err)
	}
}

// beginCreate returns when the API server reads the body of a POST, of which half is sent, and
// where the answer will be. A handler that makes way for another storage answers 503 and
// "apiserver is shutting down", to be sent again after a second: that has begun nothing.
func (c *cluster) beginCreate(client *http.Client) (send *io.PipeWriter, answered <-chan string) {
	for {
		body, send := io.Pipe()
		reads, answered := make(chan struct{}), make(chan string, 1)
		trace := &httptrace.ClientTrace{Got100Continue: func() { close(reads) }}
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(c.Context(), trace), "POST",
			c.Config.Host+"/apis/"+group+"/v1alpha1/namespaces/"+c.Namespace+"/pizzas", body)
		if err != nil {
			c.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Expect", "100-continue")
		go func() {
			response, err := client.Do(request)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer response.Body.Close()
			says, _ := io.ReadAll(response.Body)
			answered <- response.Status + ": " + string(says)
		}()
		// It fails if the answer was there first.
		_, _ = io.WriteString(send, `{"apiVersion":"`+group+`/v1alpha1","kind":"Pizza","metadata":{"name":"slow"},"spec":{`)
		select {
		case <-reads:
			return send, answered
		case status := <-answered:
			if !strings.HasPrefix(status, "503") {
				c.Fatalf("the slow write: %s", status)
			}
		}
	}
}
