package main

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
	"example.com/byhand/kit/check"
)

// TestRun runs the whole program, from an orphan to the sample's deletion. It needs exactly the
// permissions of config/rbac.
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
		stores := func(want ...types.UID) {
			t.Helper()
			if owners, err := volumes.Owners(t.Context()); err != nil || !slices.Equal(owners, want) {
				t.Errorf("the store has folders for %v (%v), want %v", owners, err, want)
			}
		}
		stores(p.Get(p.Path).GetUID())
		p.Edit(p.Path, scaled(1))
		p.Later()
		p.APIServer.Delete(p.Path, "")
		p.Later()
		stores()
		if left := p.Get(p.Path); left != nil {
			t.Errorf("the Project is still there: %v", left)
		}
		check.Role(t, "config/rbac/role.yaml", p.APIServer.Log(), "patch events")
	})
}
