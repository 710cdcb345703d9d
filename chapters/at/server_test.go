//go:build integration

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
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

// ownersAreKnown waits until the admission plugin OwnerReferencesPermissionEnforcement knows
// what an At is. It looks for new kinds every half a minute, and until then it refuses to
// all users but administrators to block the deletion of one.
func (c *cluster) ownersAreKnown(as *rest.Config) {
	c.Helper()
	pods := kubernetes.NewForConfigOrDie(as).CoreV1().Pods(c.Namespace)
	owned := newPod(&At{
		ObjectMeta: metav1.ObjectMeta{Name: "at", Namespace: c.Namespace, UID: "uid"},
		Spec:       AtSpec{Containers: []AtContainer{{Name: "main", Image: "busybox"}}},
		Status:     AtStatus{PodName: "owned"},
	})
	c.Eventually("an At may own a Pod", func() error {
		_, err := pods.Create(c.Context(), owned, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// TestRights: the program needs no more than config/rbac gives it.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "at"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "byhand-at"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: c.Namespace, Name: "default"}}}
	if _, err := c.Kube.RbacV1().RoleBindings(c.Namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	own := *c
	ownCluster := *c.Cluster
	own.Cluster = &ownCluster
	own.Config = rest.CopyConfig(c.Config)
	own.Config.Impersonate.UserName = "system:serviceaccount:" + c.Namespace + ":default"
	c.ownersAreKnown(own.Config)
	_, kubeconfig := own.Proxy()
	program := c.start(kubeconfig)
	c.create("one", past)
	c.Eventually("it is DONE", func() error { return errors.Join(c.endNotedPods(), c.released(PhaseDone)) })
	c.create("two", past)
	pod := c.runs("two").Name
	// With the At gone no status waits for its Pod. The garbage collector would delete it, too; it
	// hears of a new CRD up to 30 s late (TestDeletedAts).
	c.delete("two", metav1.DeletePropagationBackground)
	if err := c.pods.Delete(t.Context(), pod, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the Pod goes", func() error {
		if _, err := c.pods.Get(t.Context(), pod, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%v)", err)
		}
		return nil
	})
	if output := program.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("the account lacks a right:\n%s", output)
	}
}
