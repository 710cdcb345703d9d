package main

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"example.com/byhand/internal/observer"
	"example.com/byhand/kit/check"
)

// TestRun: the whole program gives the sample its Pod when it is time, notes what came of that and
// releases it. It needs the rights of config/rbac, and no other.
func TestRun(t *testing.T) {
	kind := check.Kind{Scheme: scheme, Plural: "ats", CRD: "config/crd/ats.cnat.programming-kubernetes.info.yaml", Sample: "config/samples/example-at.yaml"}
	program := func(ctx context.Context, config *rest.Config) error {
		return run(ctx, config, metav1.NamespaceAll, observer.Flag{})
	}
	kind.Run(t, program, func(p *check.Program) {
		set := func(path string, value any, fields ...string) {
			p.Helper()
			p.Edit(path, func(object *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(object.Object, value, fields...)
			})
			p.Later()
		}
		p.Create()
		p.Later() // The clock says 2000.
		if pods := p.List("pods"); len(pods) > 0 {
			t.Fatalf("it has %d Pods before it is time", len(pods))
		}
		set(p.Path, "2000-01-01T00:00:00Z", "spec", "schedule")
		pods := p.Paths("pods")
		if len(pods) != 1 {
			t.Fatalf("the Pods are %q, want one", pods)
		}
		set(pods[0], "Succeeded", "status", "phase")
		phase, _, _ := unstructured.NestedString(p.Get(p.Path).Object, "status", "phase")
		if finalizers := p.Get(pods[0]).GetFinalizers(); phase != "DONE" || len(finalizers) > 0 {
			t.Errorf("the At is %s, and its Pod has the finalizers %q, want DONE and none", phase, finalizers)
		}
		check.Role(t, "config/rbac/role.yaml", p.APIServer.Log(), "update ats/finalizers", "get pods")
	})
}
