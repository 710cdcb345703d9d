package look

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The rights of a role that no request has used are told.
func TestRole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(file, []byte(`
kind: ClusterRole
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, update, patch, delete]}
- {apiGroups: [apps], resources: [deployments/status, deployments/finalizers], verbs: [update]}
- {nonResourceURLs: [/metrics], verbs: [get]}
---
kind: Role
rules:
- {apiGroups: [""], resources: [pods, secrets], verbs: ["*"]}
- {apiGroups: [""], resources: [events], verbs: [create]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const all = "/apis/apps/v1/namespaces/a/deployments"
	s := play(t, Options{Role: file}, func(s *script) {
		s.sends(0, "GET", all, "", 200, "")
		s.sends(1, "GET", all+"?watch=1", "", 200, "")
		s.sends(2, "PATCH", all+"/a", "", 201, "")
		s.sends(4, "PUT", all+"/a/status", "", 200, "")
		s.sends(6, "DELETE", "/api/v1/pods", "", 200, "")
		s.sends(8, "POST", "/api/v1/namespaces/a/events", "", 201, "")
	})
	want := []string{"get deployments in the API group apps", "update deployments in the API group apps", "delete deployments in the API group apps", `* secrets in the API group ""`}
	if found := s.Findings(); len(found) != 1 || found[0].Name != "unused-right" || !cmp.Equal(found[0].Requests, want) {
		t.Errorf("found %v, want the unused rights %q", found, want)
	}
}
