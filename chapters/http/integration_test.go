//go:build integration

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/internal/run/subprocess"
)

// The CRD of Foos is the core's. Right after it is installed, the server may return 429 while the new
// kind's storage initializes. kubectl retries, the program does not.
func TestMain(m *testing.M) {
	os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs, "kubectl get foos --all-namespaces"))
}

func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	script := c.Readme(c.Here())
	script.Patience = 0
	// like make chapter
	c.Kubectl("apply", "-f", "../../config/samples")
	proxy := subprocess.Run(t, exec.Command("kubectl", "proxy", "--port=0"), chaptertest.Deadline)
	proxy.Prints(1, `Starting to serve on `)
	_, address, _ := strings.Cut(strings.TrimSpace(proxy.Output()), "Starting to serve on ")
	p := c.Start("--server", "http://"+address, "--namespace", c.Namespace)
	c.Kubectl("wait", "foo/example-foo", "--for=jsonpath={.status.observedGeneration}=1", "--timeout=60s")
	p.Prints(1, `(?m)^POST .*/deployments → 201 Created$`)
	p.Prints(1, `(?m)^PUT .*/foos/example-foo/status → 200 OK$`)
	script.Run("kubectl get foo example-foo", `"observedGeneration":1`)
	script.Run("kubectl get deployment example-foo", `"name":"example-foo"`)
	script.Run("kubectl get --raw", `{"type":"ADDED",`, "example-foo")
	script.Run("kubectl label foo example-foo")
	p.Prints(2, `(?m)^(ADDED|MODIFIED) .*/example-foo, `)
	script.Run("kubectl delete foo example-foo")
	p.Prints(1, `(?m)^DELETED .*/example-foo, `)
	script.Run("kubectl wait --for=delete deployment/example-foo")
	script.Run("kubectl apply -f config/samples/foo.yaml", "created")
	p.Prints(2, `(?m)^PUT .*/foos/example-foo/status → 200 OK$`)
	p.Stop()
}
