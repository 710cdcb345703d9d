package main

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/kit/check"
)

// TestRun checks everything the program writes for one At, in one namespace and in all, with exactly the
// permissions of config/rbac.
func TestRun(t *testing.T) {
	for _, namespace := range []string{metav1.NamespaceAll, metav1.NamespaceDefault} {
		program := func(ctx context.Context, config *rest.Config) error {
			return run(ctx, config, namespace, observer.Flag{})
		}
		parts.Run(t, program, func(p *check.Program) {
			set := func(path string, value any, fields ...string) {
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
				p.Fatalf("the Pods are %q, want one", pods)
			}
			pod := p.Get(pods[0])
			set(pods[0], "Running", "status", "phase")
			set(pods[0], "Succeeded", "status", "phase")
			p.Remove(pods[0]) // Nothing happens after that.
			time.Sleep(3 * resync)

			want := map[string]any{"phase": "DONE", "podName": pod.GetName(), "podUID": string(pod.GetUID()),
				"startTime": "2000-01-01T00:04:00Z", "completionTime": "2000-01-01T00:08:00Z"}
			if diff := cmp.Diff(want, p.Get(p.Path).Object["status"]); diff != "" {
				p.Errorf("status (-want +got):\n%s", diff)
			}
			const status = "PUT ats/example-at/status"
			sent := []string{status, status, "POST pods", status, status, "PATCH pods/" + pod.GetName()}
			if diff := cmp.Diff(sent, p.Writes()); diff != "" {
				p.Errorf("writes (-want +got):\n%s", diff)
			}
			for _, r := range p.APIServer.Log() {
				if r.Verb() != "watch" && r.Verb() != "list" || r.Target.Resource == "" {
					continue
				}
				isOfPods := r.Target.Resource == "pods"
				if r.Target.Namespace != namespace || isOfPods != (r.Query.Get("labelSelector") == uidLabel) {
					p.Errorf("%s %s?%s, want namespace %q, and only Pods with the label", r.Method, r.Path, r.Query.Encode(), namespace)
				}
			}
			check.Role(p.T, "config/rbac/role.yaml", p.APIServer.Log(), "update ats/finalizers", "get pods")
		})
	}
}
