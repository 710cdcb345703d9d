//go:build integration

package main

import "testing"

// TestKubectl runs more of kubectl's commands; TestReadme has the first ones.
func TestKubectl(t *testing.T) {
	c := newCluster(t)
	for _, step := range []struct {
		want string
		args []string
	}{
		{"created", []string{"apply", "-f", "config/samples"}},
		{"unchanged", []string{"apply", "-f", "config/samples"}},
		{`"type":"ADDED"`, []string{"get", "--raw", collection + "?watch=true&timeoutSeconds=1"}},
		{"created", []string{"create", "-f", "testdata/basil.yaml"}},
		{"patched", []string{"patch", "topping", "basil", "--type=merge", "-p", `{"metadata":{"labels":{"fresh":"yes"}}}`}},
		{"basil", []string{"get", "topping", "-l", "fresh=yes"}},
		{"labeled", []string{"label", "topping", "basil", "fresh-"}},
		{"annotated", []string{"annotate", "topping", "basil", "note=well"}},
		{"condition met", []string{"wait", "topping/basil", "--for=jsonpath={.spec.cost}=30", "--timeout=10s"}},
		{"replaced", []string{"replace", "-f", "testdata/basil.yaml"}},
		{"deleted", []string{"delete", "topping", "basil", "--timeout=20s"}},
	} {
		c.shows(step.want, step.args...)
	}
}
