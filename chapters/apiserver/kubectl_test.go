//go:build integration

package main

// What else kubectl does with a kind of Kubernetes than the README shows, it does with these.
func testKubectl(c *cluster) {
	for _, step := range []struct {
		want string
		args []string
	}{
		{"unchanged", []string{"apply", "-f", "config/samples"}},
		{"margherita", []string{"get", "pz", "-A"}},
		{`"type":"ADDED"`, []string{"get", "--raw", beta + "toppings?watch=true&timeoutSeconds=1"}},
		{"OwnerReference", []string{"explain", "topping.metadata"}},
		{"created", []string{"create", "-f", "testdata/funghi.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/marinara.yaml"}},
		{"patched", []string{"patch", "pizza", "marinara", "--type=merge", "-p", `{"metadata":{"labels":{"fresh":"yes"}}}`}},
		{"marinara", []string{"get", "pizza", "-l", "fresh=yes"}},
		{"labeled", []string{"label", "pizza", "marinara", "fresh-"}},
		{"annotated", []string{"annotate", "pizza", "marinara", "note=well"}},
		{"condition met", []string{"wait", "pizza/marinara", "--for=jsonpath={.spec.toppings[0].name}=tomato", "--timeout=10s"}},
		{"server dry run", []string{"apply", "--dry-run=server", "-f", "testdata/funghi.yaml"}},
		{"deleted", []string{"delete", "pizza", "funghi", "--timeout=20s"}},
		{"deleted", []string{"delete", "pizza", "--all", "--timeout=20s"}},
	} {
		if step.args[0] == "explain" {
			// The API server learns of new documents within a minute.
			c.Eventually("explain", func() error {
				_, err := c.RESTClient("openapi/v3/apis/" + hub.String())
				return err
			})
		}
		c.shows(step.want, step.args...)
	}
}

// RESTClient reads a path of the API server.
func (c *cluster) RESTClient(path string) ([]byte, error) {
	return c.Kube.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(c.Context())
}
