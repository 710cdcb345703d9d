package look

import (
	"net/http"
	"net/http/httptest"
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
	s := newScript(t, Options{Role: file})
	const all = "/apis/apps/v1/namespaces/a/deployments"
	for _, request := range [][2]string{{"GET", all}, {"GET", all + "?watch=1"}, {"PATCH", all + "/a"}, {"PUT", all + "/a/status"}, {"DELETE", "/api/v1/pods"}, {"POST", "/api/v1/namespaces/a/events"}} {
		code := http.StatusOK
		if request[0] == "PATCH" {
			code = http.StatusCreated
		}
		s.use(s.newExchange(httptest.NewRequest(request[0], request[1], nil)), &http.Response{StatusCode: code})
	}
	s.finish()
	want := []string{"get deployments in the API group apps", "update deployments in the API group apps", "delete deployments in the API group apps", `* secrets in the API group ""`}
	if found := s.Findings(); len(found) != 1 || found[0].Name != "unused-right" || !cmp.Equal(found[0].Requests, want) {
		t.Errorf("found %v, want the unused rights %q", found, want)
	}
}
