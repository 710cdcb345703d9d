package main

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/observer"
	"example.com/byhand/kit/check"
)

// TestRun is everything that the whole program writes for one At: it gives the sample its Pod when it is
// time, notes what came of that and releases it. It needs the rights of config/rbac, and no other.
func TestRun(t *testing.T) {
	program := func(ctx context.Context, config *rest.Config) error {
		return run(ctx, config, metav1.NamespaceAll, observer.Flag{})
	}
	parts.Run(t, program, func(p *check.Program) {
		set := func(path string, value any, fields ...string) {
			p.Helper()
			p.Edit(path, func(object *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(object.Object, value, fields...)
			})
			p.Later()
		}
		p.Create()
		p.Later() // The clock says 2000.
		set(p.Path, "2000-01-01T00:00:00Z", "spec", "schedule")
		pods := p.Paths("pods")
		if len(pods) != 1 {
			t.Fatalf("the Pods are %q, want one", pods)
		}
		pod := p.Get(pods[0])
		set(pods[0], "Running", "status", "phase")
		set(pods[0], "Succeeded", "status", "phase")
		want := map[string]any{"phase": "DONE", "podName": pod.GetName(), "podUID": string(pod.GetUID()), "startTime": "2000-01-01T00:04:00Z", "completionTime": "2000-01-01T00:08:00Z"}
		if diff := cmp.Diff(want, p.Get(p.Path).Object["status"]); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if finalizers := p.Get(pods[0]).GetFinalizers(); len(finalizers) > 0 {
			t.Errorf("finalizers %q", finalizers)
		}
		p.Remove(pods[0]) // It may go now, and nothing happens.
		time.Sleep(3 * resync)
		const status = "PUT ats/example-at/status"
		sent := []string{status, status, "POST pods", status, status, "PATCH pods/" + pod.GetName()}
		if diff := cmp.Diff(sent, p.Writes()); diff != "" {
			t.Errorf("writes (-want +got):\n%s", diff)
		}
		check.Role(t, "config/rbac/role.yaml", p.APIServer.Log(), "update ats/finalizers", "get pods")
	})
}
