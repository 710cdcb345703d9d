package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/byhand/kit/check"
	"example.com/byhand/kit/testkit"
)

const role = `
rules:
  - {apiGroups: [test.example.com], resources: [things], verbs: [list, watch]}
  - {apiGroups: [test.example.com], resources: [things/status], verbs: [update]}
  - {apiGroups: [test.example.com], resources: [things/finalizers], verbs: [update]}
`

// An informer's watch needs list as well. Discovery needs no right.
func TestRole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(file, []byte(role), 0o644); err != nil {
		t.Fatal(err)
	}
	request := func(method, path string, watch bool) testkit.Request {
		return testkit.Request{Method: method, Path: path, Target: testkit.TargetOf(path), Watch: watch}
	}
	check.Role(t, file, []testkit.Request{
		request("GET", "/version", false),
		request("GET", "/apis/test.example.com/v2/things", true),
		request("PUT", "/apis/test.example.com/v2/things/one/status", false),
	}, "update things/finalizers")
}
