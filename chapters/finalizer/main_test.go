package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
	"example.com/byhand/kit/check"
)

// The whole program, from an orphan to the end of the sample. It needs the rights of config/rbac, and
// no other.
func TestRun(t *testing.T) {
	kind := check.Kind{Scheme: clientset.Scheme, Plural: "projects", CRD: "../../config/crd/projects.examples-gzh.com.yaml", Sample: "config/samples/project.yaml"}
	volumes, err := newDirectory(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	create(t, volumes, uid(1), 0)
	program := func(ctx context.Context, config *rest.Config) error {
		return run(ctx, config, options{store: string(volumes), maxVolumes: 10})
	}
	kind.Run(t, program, func(p *check.Program) {
		p.Create()
		p.Later()
		owners, err := volumes.Owners(t.Context())
		if err != nil || len(owners) != 1 || owners[0] != p.Get(p.Path).GetUID() {
			t.Fatalf("the store has folders of %v (%v), want one of the Project", owners, err)
		}
		p.Edit(p.Path, func(project *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(project.Object, int64(1), "spec", "replicas")
		})
		p.Later()
		if got, err := volumes.Volumes(t.Context(), owners[0]); err != nil || !slices.Equal(got, []int{0}) {
			t.Errorf("it has the volumes %v (%v), want 0", got, err)
		}
		p.APIServer.Delete(p.Path, metav1.DeletePropagationBackground)
		p.Later()
		if owners, err := volumes.Owners(t.Context()); err != nil || len(owners) > 0 || p.Get(p.Path) != nil {
			t.Errorf("the store has folders of %v (%v), and the Project is %v, want neither", owners, err, p.Get(p.Path))
		}
		check.Role(t, "config/rbac/role.yaml", p.APIServer.Log(), "patch events")
	})
}

// A mistake in the command line is one line that says what to do.
func TestMistakes(t *testing.T) {
	for want, o := range map[string]options{
		"--store DIR":              {maxVolumes: 1},
		"--max-volumes at least 1": {store: t.TempDir()},
	} {
		err := run(t.Context(), &rest.Config{}, o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, want)
		}
	}
	if _, err := newDirectory("main.go"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v, want that it is not a directory", err)
	}
}
