package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// dynamic runs the program with the server's kubeconfig, and returns its output.
func (s *server) dynamic(t *testing.T, args string) (stdout, stderr string, err error) {
	t.Helper()
	var out, steps bytes.Buffer
	err = run(t.Context(), append([]string{"--kubeconfig", s.kubeconfig(t)}, strings.Fields(args)...), &out, &steps)
	return out.String(), steps.String(), err
}

// TestGet: the result is on stdout, the steps on stderr: each request, and each name of the kind. A
// version that does not respond is a warning.
func TestGet(t *testing.T) {
	s := newServer(t)
	const steps = "GET /api\nGET /apis\n" +
		"warning: [metrics.k8s.io/v1beta1]: the servers of these versions do not respond, so their resources are missing\n" +
		"foo → kind samplecontroller.k8s.io/v1alpha1, Kind=Foo → resource samplecontroller.k8s.io/v1alpha1, Resource=foos, in a namespace\n" +
		"GET " + foosPath + "\n"
	for _, args := range []string{"-n=default get foo", "get foo"} { // without -n: the context's namespace, or default
		stdout, stderr, err := s.dynamic(t, args)
		if err != nil || !strings.HasPrefix(stdout, "KIND ") || !strings.Contains(stdout, "\nFoo ") || !strings.Contains(stdout, "example-foo") {
			t.Errorf("%q prints %q, error %v", args, stdout, err)
		}
		if !strings.HasSuffix(stderr, steps) {
			t.Errorf("%q: the steps are %q, want %q", args, stderr, steps)
		}
	}
}

// TestLies: control characters in a response are not printed, and a response must be the requested object.
func TestLies(t *testing.T) {
	const foo = `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"namespace": "default", "name": "example-foo", "resourceVersion": "1", "creationTimestamp": "\u001b[2J"}}`
	for _, test := range []struct{ path, answer, args, want string }{
		{fooPath, foo, "get fo example-foo", `\x1b[2J`},
		{fooPath, `{"kind": "Status", "apiVersion": "v1", "status": "Success"}`, "get fo example-foo", "a different object"},
		{foosPath, `{"kind": "Status", "apiVersion": "v1", "status": "Success"}`, "get fo", "not a list"},
	} {
		s := newServer(t)
		s.answer(test.path, test.answer)
		stdout, stderr, err := s.dynamic(t, test.args)
		if said := fmt.Sprint(stdout, stderr, err); !strings.Contains(said, test.want) || strings.Contains(said, "\x1b") {
			t.Errorf("%s, %s: %q, want %q", test.args, test.answer, said, test.want)
		}
	}
}

// TestCategory: a category is several kinds, with a request and rows for each. Servers omit the kind
// from a list's items; it follows from the list's kind.
func TestCategory(t *testing.T) {
	s := newServer(t)
	s.answer("/apis/examples-gzh.com/v1alpha1/namespaces/default/projects", `{"apiVersion": "examples-gzh.com/v1alpha1", "kind": "ProjectList", "items": [{"metadata": {"name": "a"}}]}`)
	stdout, _, err := s.dynamic(t, "get byhand")
	if lines := strings.Split(stdout, "\n"); err != nil || len(lines) != 4 || !strings.HasPrefix(lines[1], "Project ") || !strings.HasPrefix(lines[2], "Foo ") {
		t.Errorf("%v: %s", err, stdout)
	}
}

// TestWatchEnds: a watch ends with an error event, usually 410. The event has a Status instead of
// an object.
func TestWatchEnds(t *testing.T) {
	s := newServer(t)
	s.answer(foosPath+"?watch", `{"type": "MODIFIED", "object": {"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "changed", "generation": 2}}}
		{"type": "ERROR", "object": {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}}`)
	stdout, stderr, err := s.dynamic(t, "get fo -w")
	lines := strings.Split(stdout, "\n")
	if !apierrors.IsResourceExpired(err) || !strings.HasSuffix(err.Error(), "start it again: too old") {
		t.Errorf("error %v", err)
	}
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "ADDED ") || !strings.HasPrefix(lines[1], "MODIFIED ") || !strings.Contains(lines[1], "changed") {
		t.Errorf("stdout %q", stdout)
	}
	if !strings.Contains(stderr, "GET "+foosPath+"?resourceVersion="+s.api.Latest()+"&watch=true\nready: watching foos.samplecontroller.k8s.io") {
		t.Errorf("stderr %q", stderr)
	}
	s.answer(foosPath+"?watch", "")
	if _, stderr, err := s.dynamic(t, "get fo -w"); err != nil || !strings.HasSuffix(stderr, "the server has ended the watch: start it again\n") {
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestBadInput(t *testing.T) {
	s := newServer(t)
	for _, test := range []struct{ args, want string }{
		{"", "usage: get WORD"},
		{"get fooo", `the server has no resource "fooo": api-resources lists`},
		{"get nodes -n default", "nodes are cluster-scoped: omit -n default"},
		{"get byhand example-foo", "use one of projects.examples-gzh.com, foos.samplecontroller.k8s.io"},
		{"get tokenreviews", "tokenreviews.authentication.k8s.io has no verb list, only create"},
		{"get foo missing", `foos.samplecontroller.k8s.io "missing" not found`},
		{"get foo ../../secrets", "may not contain '/'"},
	} {
		stdout, _, err := s.dynamic(t, test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || stdout != "" {
			t.Errorf("%q: error %v and stdout %q, want one line with %q", test.args, err, stdout, test.want)
		}
	}
}

// TestNoDiscovery: without aggregated discovery, the error names the required Kubernetes version.
func TestNoDiscovery(t *testing.T) {
	s := newServer(t)
	s.answer("/api", `{"kind": "APIVersions", "versions": ["v1"]}`)
	if _, _, err := s.dynamic(t, "get foo"); err == nil || !strings.Contains(err.Error(), "1.30 or newer") {
		t.Errorf("an old server: %v", err)
	}
}
