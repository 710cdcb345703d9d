//go:build integration

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestSchedules: what the API server admits, and what becomes of it.
func TestSchedules(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(c.Kubeconfig)
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

	c.create("no-day", "2026-02-30T00:00:00Z")
	c.becomes("at/no-day", "{.status.reason}", "InvalidSchedule")
	c.becomes("at/later", "{.status.phase}", "PENDING")
	for _, schedule := range []string{time.Now().Add(time.Hour).Format(time.RFC3339), "9999-12-31T23:59:59Z", past} {
		c.patch("later", `{"spec":{"schedule":"`+schedule+`"}}`)
	}
	c.runs("later")
	fails("spec cannot be changed once the phase is no longer PENDING", "patch", "at", "later", "--type=merge", "-p", `{"spec":{"schedule":"9999-12-31T23:59:59Z"}}`)
	c.patch("later", `{"metadata":{"labels":{"a":"b"}}}`)
}

// TestRights: the program needs no more than config/rbac gives it.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	c.Kubectl("create", "rolebinding", "at", "--clusterrole=byhand-at", "--serviceaccount="+c.Namespace+":default")

	// The admission plugin OwnerReferencesPermissionEnforcement looks for new kinds every half a
	// minute. Until then it refuses to all users but administrators to block the deletion of one.
	account := rest.CopyConfig(c.Config)
	account.Impersonate.UserName = "system:serviceaccount:" + c.Namespace + ":default"
	owned := newPod(&At{
		ObjectMeta: metav1.ObjectMeta{Name: "at", Namespace: c.Namespace, UID: "uid"},
		Spec:       AtSpec{Containers: []AtContainer{{Name: "main", Image: "busybox"}}},
		Status:     AtStatus{PodName: "owned"},
	})
	c.Eventually("an At may own a Pod", func() error {
		_, err := kubernetes.NewForConfigOrDie(account).CoreV1().Pods(c.Namespace).Create(t.Context(), owned, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})

	program := c.start(c.As(c.Kubectl("create", "token", "default")))
	c.create("done", past)
	pod := c.runs("done")
	c.Kubectl("patch", pod, "--subresource=status", "-p", `{"status":{"phase":"Succeeded"}}`)
	c.becomes("at/done", "{.status.phase}", "DONE")
	c.released(pod)
	c.create("orphan", past)
	pod = c.runs("orphan")
	c.Kubectl("delete", "at", "orphan", "--cascade=orphan", "--wait=false")
	c.released(pod)
	if output := program.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("the account lacks a right:\n%s", output)
	}
}
