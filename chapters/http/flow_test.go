package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/check"
)

// TestFlow runs the program on a quiet day. Each Foo costs a POST and a PUT, whether the list or
// the first or second watch delivers it. The program's PUT and a label cause no request. A Foo that is
// being deleted gets no Deployment. The program needs exactly the permissions of config/rbac.
func TestFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		p := play(t, s, func(s *server, start func()) {
			s.create("goes")
			s.Edit(fooPath+"goes", func(foo *unstructured.Unstructured) { foo.SetFinalizers([]string{"example.com/wait"}) })
			s.Delete(fooPath+"goes", "")
			s.create("listed")
			start()
			s.create("watched")
			synctest.Wait()
			s.label("watched", "new")
			s.EndWatches("foos")
			synctest.Wait()
			s.create("later")
			synctest.Wait()
			s.Remove(fooPath + "listed")
			s.Remove(fooPath + "goes")
		}, startByHTTP)
		deployments := []string{deploymentPath + "later", deploymentPath + "listed", deploymentPath + "watched"}
		if diff := cmp.Diff(deployments, s.Paths("deployments")); diff != "" {
			t.Errorf("Deployments (-want +got):\n%s", diff)
		}
		s.wrote(t, "POST deployments 201", "PUT foos 200", "POST deployments 201", "PUT foos 200", "POST deployments 201", "PUT foos 200")
		if foo, ok := p.store["default/watched"]; len(p.store) != 2 || !ok || foo.Metadata.Labels["label"] != "new" {
			t.Errorf("the store has %v, want the two remaining Foos, one with its label", p.store)
		}
		check.Role(t, "config/rbac/role.yaml", s.Log(), "update foos/finalizers")
	})
}

// TestSize has more Foos than the queue holds, and a Foo that is too long for a line of bufio.Scanner.
func TestSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		p := play(t, s, func(s *server, start func()) {
			for i := range 150 {
				s.create("foo-" + strconv.Itoa(i))
			}
			start()
			s.label("foo-0", strings.Repeat("x", 200_000))
			synctest.Wait()
			s.create("last")
		}, startByHTTP)
		if n := len(s.List("deployments")); n != 151 {
			t.Errorf("%d Deployments, want 151", n)
		}
		if n := len(p.store["default/foo-0"].Metadata.Labels["label"]); n != 200_000 {
			t.Errorf("the long label has %d characters, want 200,000", n)
		}
	})
}

// TestMistakes verifies that an error at startup becomes one line with advice.
func TestMistakes(t *testing.T) {
	answers := func(code int, body string) []string {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(front.Close)
		return []string{"--server", front.URL}
	}
	for want, args := range map[string][]string{
		"kubectl proxy":               {"--server", "http://127.0.0.1:1"}, // No server gets a port below 1024.
		"usage: http [--server URL]":  {"config/samples"},
		"may have expired":            answers(401, `{"kind":"Status","code":401,"message":"Unauthorized"}`),
		"config/rbac":                 answers(403, `{"kind":"Status","code":403,"message":"User \"alice\" cannot list"}`),
		"kubectl apply -f config/crd": answers(404, "404 page not found\n"),
		"not a list of Foos":          answers(200, `{"kind":"Status"}`),
	} {
		if err := start(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line with %q", args, err, want)
		}
	}
}
