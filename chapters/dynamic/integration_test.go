//go:build integration

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/chaptertest"
)

// This chapter has no kinds of its own: it uses Foos and Projects.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// samples creates the objects of config/samples in the test's namespace, and returns a
// kubeconfig in which that is the namespace to look in.
func samples(c *chaptertest.Cluster) (kubeconfig string) {
	c.Helper()
	c.Kubectl("apply", "-f", "../../config/samples")
	return c.Here()
}

// snapshot keeps the first answer to each path. Tests of other packages install CRDs while
// this one runs, and both mappers have to see the same.
type snapshot struct {
	next    http.RoundTripper
	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	header http.Header
	body   []byte
}

func (s *snapshot) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, found := s.answers[r.URL.Path]
	if !found {
		response, err := s.next.RoundTrip(r)
		if err != nil || response.StatusCode != http.StatusOK {
			return response, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		kept = answer{response.Header, body}
		s.answers[r.URL.Path] = kept
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: kept.header, Request: r, Body: io.NopCloser(bytes.NewReader(kept.body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(kept.body)),
	}, nil
}

// For every word of every resource that the real server has, our mapping is that of kubectl.
func TestMappings(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kept := &snapshot{answers: map[string]answer{}}
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { kept.next = next; return kept })
	client, err := NewClient(config, discard)
	if err != nil {
		t.Fatal(err)
	}
	compareMappings(t, client, config)
}

// Each command of the README does what it says there.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	script := c.Readme(kubeconfig)
	for _, command := range script.Commands {
		args, ours := strings.CutPrefix(command, "bin/dynamic ")
		if !ours {
			script.Run(command)
			continue
		}
		script.Skip(command)
		// The sample is in the test's namespace instead of default.
		args = strings.ReplaceAll(args, "default", c.Namespace)
		p := c.Start(append(strings.Fields(args), "--kubeconfig", kubeconfig)...)
		if strings.Contains(args, " -w") {
			p.Prints(1, `ready: watching`)
			p.Stop()
		} else if code := p.Exit(); code != 0 {
			t.Errorf("%s: exit code %d", command, code)
		}
	}
}

// What the words print is what kubectl prints for them.
func TestLikeKubectl(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	for _, args := range []string{"fo", "Project", "byhand", "foos.v1alpha1.samplecontroller.k8s.io example-foo"} {
		names := strings.Fields(c.Kubectl(append([]string{"get", "-o", "jsonpath={..metadata.name}"}, strings.Fields(args)...)...))
		stdout, _, err := dynamic(t, kubeconfig, append([]string{"get"}, strings.Fields(args)...)...)
		var got []string
		for line := range strings.Lines(stdout) {
			if cells := strings.Fields(line); cells[0] != "KIND" {
				got = append(got, cells[2])
			}
		}
		slices.Sort(names)
		slices.Sort(got)
		if err != nil || !slices.Equal(names, got) {
			t.Errorf("get %s: %q, %v; kubectl has %q", args, got, err, names)
		}
	}
	for _, args := range []string{"get nodes -n default", "get fooo", "get foo nobody", "get tokenreviews"} {
		p := c.Start(append(strings.Fields(args), "--kubeconfig", kubeconfig)...)
		if code := p.Exit(); code != 1 || !strings.Contains(p.Output(), "\ndynamic: ") {
			t.Errorf("%s: exit code %d\n%s", args, code, p.Output())
		}
	}
}

// A watch shows what was there, and each change, as one document each; SIGTERM ends it.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	p := c.Start("get", "-w", "foo", "example-foo", "-o", "json", "--kubeconfig", kubeconfig)
	p.Prints(1, `ready: watching foos.samplecontroller.k8s.io`)
	p.Prints(1, `"type": "ADDED"`)
	c.Kubectl("patch", "foo", "example-foo", "--type=merge", "-p", `{"spec": {"replicas": 5}}`)
	p.Prints(1, `"replicas": 5`)
	c.Kubectl("delete", "foo", "example-foo")
	p.Prints(1, `"type": "DELETED"`)
	p.Stop()
}

// Two writers collide on the real server, for a Foo, for a Deployment, whose kind allows an
// update without a version, and for what is in no namespace. No update is lost.
func TestCollideOnServer(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	kubeconfig := samples(c)
	c.Kubectl("create", "deployment", "a", "--image=a", "--replicas=0")
	for _, args := range []string{"foo example-foo", "deployment a", "namespace " + c.Namespace} {
		stdout, _, err := dynamic(t, kubeconfig, append([]string{"collide"}, strings.Fields(args)...)...)
		var updates, conflicts, from, to int
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		_, scanErr := fmt.Sscanf(lines[len(lines)-1], "%d updates, %d conflicts: "+counter+" went from %d to %d", &updates, &conflicts, &from, &to)
		// Controllers of Kubernetes write to these objects, too: they add conflicts.
		if err != nil || scanErr != nil || updates != 2*rounds || conflicts < rounds || from != 0 || to != updates {
			t.Errorf("%s: %v, %v\n%s", args, err, scanErr, stdout)
		}
		if strings.Count(stdout, "the object has been modified") != conflicts {
			t.Errorf("%s: not each conflict is the server's:\n%s", args, stdout)
		}
	}
}

// Without a resourceVersion the update of a Deployment overwrites what the other writer did.
// The server refuses such an update of a custom resource.
func TestUpdateWithoutVersion(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	samples(c)
	c.Kubectl("create", "deployment", "a", "--image=a", "--replicas=0")
	client, err := NewClient(c.Config, discard)
	if err != nil {
		t.Fatal(err)
	}
	update := func(resource schema.GroupVersionResource, name string) (count int, err error) {
		old, err := client.Get(t.Context(), resource, c.Namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		// The other writer counts to 1. This one has read 0, and keeps it.
		if err := client.Modify(t.Context(), resource, c.Namespace, name, countUp, func(error) {}); err != nil {
			t.Fatal(err)
		}
		unstructured.RemoveNestedField(old.Object, "metadata", "resourceVersion")
		_, updateErr := client.Update(t.Context(), resource, old)
		if count, err = client.count(t.Context(), resource, c.Namespace, name); err != nil {
			t.Fatal(err)
		}
		return count, updateErr
	}
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	if count, err := update(deployments, "a"); err != nil || count != 0 {
		t.Errorf("Deployment: count %d, %v: want the update lost, silently", count, err)
	}
	if count, err := update(foos, "example-foo"); !apierrors.IsInvalid(err) || count != 1 {
		t.Errorf("Foo: count %d, %v: want a refusal", count, err)
	}
}

// Which content types the real server has for a built-in kind and for a custom resource.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	const asProtobuf, asCBOR = "application/vnd.kubernetes.protobuf", "application/cbor"
	for _, test := range []struct {
		path, accept string
		code         int
		begins       string
	}{
		{"/apis/apps/v1/deployments", "application/json", 200, "{"},
		{"/apis/apps/v1/deployments", asProtobuf, 200, "k8s\x00"},
		{"/apis/apps/v1/deployments", asCBOR, 406, "{"},
		{foosPath, "application/json", 200, "{"},
		{foosPath, asProtobuf, 406, "k8s\x00"}, // Even the refusal is in protobuf.
		{foosPath, asCBOR, 406, "{"},
		// What client-go's typed clients ask for: the best that the kind has.
		{foosPath, asProtobuf + ",application/json", 200, "{"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", c.Config.Host+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", test.accept)
		response, err := httpClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != test.code || !strings.HasPrefix(string(body), test.begins) {
			t.Errorf("GET %s, %s: %d %.80q, %v, want %d", test.path, test.accept, response.StatusCode, body, err, test.code)
		}
	}
}
