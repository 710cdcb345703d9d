//go:build integration

package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const slowPizza = `{"apiVersion":"` + group + `/v1alpha1","kind":"Pizza","metadata":{"name":"slow"},"spec":{"toppings":["salami"]}}`

// A write that began before the switch is stored in the old version when it ends. A migration
// waits for it: otherwise the definition would not say that version any more, and who drops it
// would have an object that no client can read.
func TestSlowWrite(t *testing.T) {
	c := newCluster(t)
	c.start()
	body, answers := c.beginCreate()
	c.storeBeta()
	migration := c.Start("--kubeconfig", c.account, "migrate")
	migration.Prints(1, "began before the switch: 37s|storedVersions is")
	if _, err := io.WriteString(body, slowPizza); err != nil {
		t.Fatal(err)
	}
	if response, err := http.ReadResponse(answers, nil); err != nil || response.StatusCode != http.StatusCreated {
		t.Errorf("the slow write: %v, %v", response, err)
	}
	if code := migration.Exit(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	pizza, err := stored(t.Context(), c.etcd, c.Namespace+"/slow")
	if err != nil || pizza.APIVersion != group+"/v1beta1" {
		t.Errorf("etcd has %s (%v), want v1beta1", pizza.APIVersion, err)
	}
}

// beginCreate returns when the API server waits for the body of a POST, of slowPizza, and where the answer
// will be. A handler that makes way for another storage answers 503 and "apiserver is shutting
// down", to be sent again after a second: that has begun nothing.
func (c *cluster) beginCreate() (body io.Writer, answers *bufio.Reader) {
	config, err := rest.TLSConfigFor(c.Config)
	if err != nil {
		c.Fatal(err)
	}
	for {
		connection, err := tls.Dial("tcp", strings.TrimPrefix(c.Config.Host, "https://"), config)
		if err != nil {
			c.Fatal(err)
		}
		c.Cleanup(func() { _ = connection.Close() })
		fmt.Fprintf(connection, "POST /apis/%s/v1alpha1/namespaces/%s/pizzas HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", group, c.Namespace, len(slowPizza))
		answers = bufio.NewReader(connection)
		response, err := http.ReadResponse(answers, nil)
		switch {
		case err != nil || response.StatusCode != http.StatusContinue && response.StatusCode != http.StatusServiceUnavailable:
			c.Fatalf("the slow write: %v, %v", response, err)
		case response.StatusCode == http.StatusContinue:
			return connection, answers
		}
	}
}
