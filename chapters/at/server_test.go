//go:build integration

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvalid: what the API server refuses, of a user and of a writer of the status.
func TestInvalid(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	fails := func(want string, args ...string) {
		t.Helper()
		if output := c.KubectlFails(args...); !strings.Contains(output, "is invalid: ") || !strings.Contains(output, want) {
			t.Errorf("%s: want it to say %q", output, want)
		}
	}
	file := filepath.Join(t.TempDir(), "at.json")
	const containers = `"containers":[{"name":"main","image":"busybox"}]`
	for spec, want := range map[string]string{
		`{"schedule":"2026-01-01t00:30:00z",` + containers + `}`:                                       "spec.schedule in body should match",
		`{"schedule":"` + past + `","command":"echo YAY"}`:                                             `"spec.command" must not validate the schema (not)`,
		`{"schedule":"` + past + `","command":"echo YAY",` + containers + `}`:                          "spec.command",
		`{"schedule":"` + past + `","containers":[]}`:                                                  "spec.containers",
		`{"schedule":"` + past + `","containers":[{"name":"a","image":"b","command":"echo"}]}`:         "spec.containers[0].command",
		`{"schedule":"` + past + `","startingDeadlineSeconds":-1,` + containers + `}`:                  "spec.startingDeadlineSeconds",
		`{"schedule":"` + past + `","containers":[{"name":"a","image":"b"},{"name":"a","image":"c"}]}`: "Duplicate value",
	} {
		at := `{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"generateName":"at-"},"spec":` + spec + `}`
		if err := os.WriteFile(file, []byte(at), 0o600); err != nil {
			t.Fatal(err)
		}
		fails(want, "create", "-f", file)
	}
	// Nor may a time be in the status that breaks the list of all Ats.
	c.create("later", "9999-12-31T23:59:59Z")
	for _, value := range []string{"2026-01-01t00:30:00z", "2026-01-01T00:30:00+99:99", "2026-02-30T00:00:00Z"} {
		fails("status.startTime", "patch", "at", "later", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status":{"startTime":%q}}`, value))
	}
}

// TestRights: on a real API server the program works with the rights in config/rbac.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	c.Kubectl("create", "rolebinding", "at", "--clusterrole=byhand-at", "--serviceaccount="+c.Namespace+":default")
	c.start(c.As(c.Kubectl("create", "token", "default")))
	c.create("orphan", past)
	// Of a kind that is new the API server does not know for up to half a minute who may set
	// blockOwnerDeletion. The program retries.
	pod := c.runs("orphan")
	c.Kubectl("delete", "at", "orphan", "--cascade=orphan", "--wait=false")
	c.released(pod)
}
