//go:build integration

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// A write that began before the switch is stored in the old version when it ends. A migration
// waits for it: otherwise the definition would not say that version any more, and who drops it
// would have an object that no client can read.
func TestSlowWrite(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	client, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	body, send := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "POST", c.Config.Host+"/apis/"+group+"/v1alpha1/namespaces/"+c.Namespace+"/pizzas", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answered := make(chan string)
	go func() {
		response, err := client.Do(request)
		if err != nil {
			answered <- err.Error()
			return
		}
		_ = response.Body.Close()
		answered <- response.Status
	}()
	if _, err := io.WriteString(send, `{"apiVersion":"`+group+`/v1alpha1","kind":"Pizza","metadata":{"name":"slow"},"spec":{`); err != nil {
		t.Fatal(err)
	}
	c.Kubectl("get", alphaPizzas) // By now the API server has begun to read.

	c.store("v1beta1")
	migration := c.Start("--kubeconfig", c.Kubeconfig, "migrate")
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
	if err := c.storedAs(c.Namespace+"/slow", "v1beta1"); err != nil {
		t.Error(err)
	}

	c.store("v1alpha1")
	if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
		t.Fatal(err)
	}
	c.stop(p)
}
