//go:build integration

package main

import "testing"

// What else kubectl does with a kind of Kubernetes than the README shows, it does with this one.
func TestKubectl(t *testing.T) {
	c := newCluster(t)
	for _, step := range []struct {
		want string
		args []string
	}{
		{"created", []string{"apply", "-f", "config/samples"}},
		{"unchanged", []string{"apply", "-f", "config/samples"}},
		{"tomato", []string{"get", "tp"}},
		{`"type":"ADDED"`, []string{"get", "--raw", collection + "?watch=true&timeoutSeconds=1"}},
		{"OwnerReference", []string{"explain", "topping.metadata", "--api-version=" + version.String()}},
		{"created", []string{"create", "-f", "testdata/basil.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "--force-conflicts", "-f", "testdata/basil.yaml"}},
		{"serverside-applied", []string{"apply", "--server-side", "-f", "testdata/basil.yaml"}},
		{"patched", []string{"patch", "topping", "basil", "--type=merge", "-p", `{"metadata":{"labels":{"fresh":"yes"}}}`}},
		{"basil", []string{"get", "topping", "-l", "fresh=yes"}},
		{"labeled", []string{"label", "topping", "basil", "fresh-"}},
		{"annotated", []string{"annotate", "topping", "basil", "note=well"}},
		{"condition met", []string{"wait", "topping/basil", "--for=jsonpath={.spec.cost}=30", "--timeout=10s"}},
		{"server dry run", []string{"apply", "--dry-run=server", "-f", "testdata/basil.yaml"}},
		{"replaced", []string{"replace", "-f", "testdata/basil.yaml"}},
		{"deleted", []string{"delete", "topping", "basil", "--timeout=20s"}},
	} {
		if step.args[0] == "explain" {
			// The API server learns of new documents within a minute.
			c.Eventually("explain", func() error {
				_, err := c.RESTClient("openapi/v3/apis/" + version.String())
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
