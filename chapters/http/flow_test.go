package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/kit/check"
)

// On a quiet day: each Foo costs a POST and a PUT, whether it was listed or came later, also in
// the watch after one that the server has ended properly. The PUT comes back as an event, which
// costs nothing, and neither does a label. A Foo that is being deleted gets nothing: its
// Deployment would have to be deleted again. It needs the rights of config/rbac, and no other.
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
			t.Errorf("the store has %v, want the Foos that are left, one with its label", p.store)
		}
		check.Role(t, "config/rbac/role.yaml", s.Log(), "update foos/finalizers")
	})
}

// More Foos than the queue holds, and one that is longer than a line of bufio.Scanner may
// be.
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

// It is the same Deployment that the core makes, except for an annotation of the core's.
func TestDeploymentIsTheCores(t *testing.T) {
	want, got := deploymentBy(t, startByCore), deploymentBy(t, startByHTTP)
	want.Annotations = nil
	// The namespace is in the URL.
	got.Namespace = want.Namespace
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Deployment (-core +http):\n%s", diff)
	}
}

// deploymentBy returns the Deployment that a program makes.
func deploymentBy[P any](t *testing.T, begin func(context.Context, *testing.T, *server) P) *appsv1.Deployment {
	deployment := &appsv1.Deployment{}
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		play(t, s, func(s *server, start func()) {
			s.create("foo")
			start()
		}, begin)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.Get(deploymentPath+"foo").Object, deployment); err != nil {
			t.Fatal(err)
		}
	})
	return deployment
}

// With --namespace it lists and watches there only.
func TestNamespace(t *testing.T) {
	c := newController("", "", nil, "here", t.Output())
	if want := fooAPI + "/namespaces/here/foos"; c.foos != want {
		t.Errorf("path %s, want %s", c.foos, want)
	}
}

// Names become paths, and are printed: an object with none, or with another's path, ends it. So
// does a list that is none.
func TestNoFoo(t *testing.T) {
	const list = "GET " + fooAPI + "/foos"
	const watch = list + "?resourceVersion=1&watch=true"
	for _, foo := range []string{`{}`, `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a","namespace":"../.."}}`, `{"metadata":{"name":"\u001b[2J","namespace":"b"}}`} {
		for _, exchanges := range [][]chaptertest.Exchange{
			{{Request: list, Code: 200, Answer: `{"kind":"Status"}`}},
			{{Request: list, Code: 200, Answer: `{"metadata":{"resourceVersion":"1"},"items":[` + foo + `]}`}},
			{{Request: list, Code: 200, Answer: `{"metadata":{"resourceVersion":"1"}}`}, {Request: watch, Code: 200, Answer: `{"type":"ADDED","object":` + foo + `}`}},
		} {
			config := chaptertest.Expect(t, exchanges...)
			err := newController(config.Host, "", http.DefaultClient, "", t.Output()).run(t.Context())
			saysInOneLine(t, err, "is no ")
		}
	}
}

// A server that accepts and stays silent: it ends after ten seconds, with the reason.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.Intercept(unanswered)
		began, p := time.Now(), startByHTTP(t.Context(), t, s)
		time.Sleep(time.Minute)
		synctest.Wait()
		saysInOneLine(t, explain(p.err), "is the cluster running")
		if took := p.ended.Sub(began); took != 10*time.Second {
			t.Errorf("it ends after %s, want 10 s", took)
		}
	})
}

// What goes wrong at first becomes one line that says what to do: no server listens, there is nothing
// to ask, or the server refuses.
func TestMistakes(t *testing.T) {
	// No other test gets a port below 1024.
	const closed = "127.0.0.1:1"
	t.Setenv("KUBECONFIG", "")
	of := func(address string) []string { return []string{"--kubeconfig", kubeconfig(t, "server: "+address)} }
	answers := func(code int, body string) []string {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(front.Close)
		return of(front.URL)
	}
	for _, test := range []struct {
		reason     string
		args, want []string
	}{
		{"no server listens", of("http://" + closed), []string{closed, "is the cluster running", "make cluster"}},
		{"no kubeconfig", nil, []string{"--kubeconfig FILE", "$KUBECONFIG", "make cluster"}},
		{"no such file", []string{"--kubeconfig", "/nowhere/config"}, []string{"cannot read the kubeconfig", "/nowhere/config"}},
		{"an argument", []string{"config/samples"}, []string{"usage: http [--kubeconfig FILE]"}},
		{"an unknown flag", []string{"--workers", "2"}, []string{"usage: http [--kubeconfig FILE]"}},
		{"unauthorized", answers(401, `{"kind":"Status","code":401,"message":"Unauthorized"}`), []string{"401", "may have expired"}},
		{"forbidden", answers(403, `{"kind":"Status","code":403,"message":"User \"alice\" cannot list"}`), []string{"403", `User "alice" cannot list`, "config/rbac"}},
		{"no CRD", answers(404, "404 page not found\n"), []string{"404", "kubectl apply -f config/crd"}},
		{"a proxy refuses", answers(503, "<html>\nupstream\n</html>"), []string{"503"}},
		{"no API server", answers(200, "<html>\nhello\n</html>"), []string{"invalid character"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			saysInOneLine(t, start(t.Context(), test.args), test.want...)
		})
	}
}

func saysInOneLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line:\n%v", err)
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the line does not say %q:\n%v", words, err)
		}
	}
}
