//go:build integration

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestSchedules: what the API server admits, and what becomes of it.
func TestSchedules(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(c.Kubeconfig)
	post := func(spec string) error {
		body := `{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"generateName":"at-"},"spec":` + spec + `}`
		return c.client.rest.Post().Namespace(c.Namespace).Resource("ats").Body([]byte(body)).Do(t.Context()).Error()
	}
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
		if err := post(spec); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want Invalid with %q", spec, err, want)
		}
	}
	// Nor may a time be in the status that breaks the list of all Ats.
	c.create("later", "9999-12-31T23:59:59Z")
	for _, value := range []string{"2026-01-01t00:30:00z", "2026-01-01T00:30:00+99:99", "2026-02-30T00:00:00Z"} {
		err := c.client.rest.Patch("application/merge-patch+json").Namespace(c.Namespace).Resource("ats").Name("later").SubResource("status").
			Body(fmt.Appendf(nil, `{"status":{"startTime":%q}}`, value)).Do(t.Context()).Error()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.startTime") {
			t.Errorf("startTime %s: %v, want Invalid", value, err)
		}
	}

	c.create("no-day", "2026-02-30T00:00:00Z")
	c.becomes("no-day", PhaseFailed, ReasonInvalidSchedule)
	c.becomes("later", PhasePending, "")
	for _, schedule := range []string{time.Now().Add(time.Hour).Format(time.RFC3339), "9999-12-31T23:59:59Z", past} {
		if err := c.patch("later", `{"spec":{"schedule":"`+schedule+`"}}`); err != nil {
			t.Fatal(err)
		}
	}
	c.runs("later")
	err := c.patch("later", `{"spec":{"schedule":"9999-12-31T23:59:59Z"}}`)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec cannot be changed once the phase is no longer PENDING") {
		t.Errorf("a change of the spec while it runs: %v", err)
	}
	if err := c.patch("later", `{"metadata":{"labels":{"a":"b"}}}`); err != nil {
		t.Errorf("a change of the labels: %v", err)
	}
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
	pod := c.runs("done").Name
	c.Kubectl("patch", "pod", pod, "--subresource=status", "-p", `{"status":{"phase":"Succeeded"}}`)
	c.becomes("done", PhaseDone, "")
	c.released(pod)
	c.create("orphan", past)
	pod = c.runs("orphan").Name
	c.Kubectl("delete", "at", "orphan", "--cascade=orphan", "--wait=false")
	c.released(pod)
	if output := program.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("the account lacks a right:\n%s", output)
	}
}
