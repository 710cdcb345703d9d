//go:build integration

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/internal/run/subprocess"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

func TestReadme(t *testing.T) {
	c := chaptertest.New(t)
	c.Kubectl("apply", "-f", "config/rbac", "-f", "config/samples")
	t.Cleanup(func() { c.Kubectl("delete", "clusterrole/byhand-twokinds") })
	c.Kubectl("create", "serviceaccount", "program")
	c.Kubectl("create", "rolebinding", "program", "--clusterrole=byhand-twokinds", "--serviceaccount="+c.Namespace+":program")
	account := c.As(c.Kubectl("create", "token", "program"))
	if answer := c.KubectlFails("auth", "can-i", "list", "secrets", "--namespace=default", "--kubeconfig="+account); !strings.Contains(answer, "no") {
		t.Errorf("may it list the Secrets of another namespace? %s", answer)
	}

	script := c.Readme(c.Here())
	script.Take("make chapter CHAPTER=twokinds")
	p := c.Start("--kubeconfig", account, "--namespace", c.Namespace)
	p.Prints(1, "ready: ")
	script.Run("kubectl get team example-team", "SecretMissing")
	script.Run("kubectl apply -f chapters/twokinds/config/secret.yaml", "created")
	script.Run("kubectl get team,foo", "foo.samplecontroller.k8s.io/example-team-ben", "WaitingForFoos")
	script.Take("make run")
	core := filepath.Join(t.TempDir(), "byhand")
	c.Shell("cd ../.. && go build -o " + core + " .")
	subprocess.Run(t, exec.Command(core, "--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace), chaptertest.Deadline)
	script.Run("kubectl wait --for=condition=Ready team/example-team", "condition met")

	script.Run("kubectl patch secret", "patched")
	version := c.Kubectl("get", "secret", "byhand-token", "-o", "jsonpath={.metadata.resourceVersion}")
	script.Run("kubectl get secret,team", version+" "+version)
	script.Refused("kubectl get team,foo,event -o yaml | grep another-value")
	script.Run("kubectl patch team example-team", "patched")
	script.Run("kubectl wait --for=jsonpath='{.status.readyFoos}'=3", "condition met")
	script.Refused("kubectl patch team example-team", "members can be added and not removed")
	script.Run("kubectl delete secret", "deleted")
	script.Run("kubectl get team,foo", "SecretMissing", "example-team-cleo")
	script.Run("kubectl delete team", "deleted")
	script.Run("kubectl wait --for=delete foo/example-team-anna")
	p.Stop()
	// Ignore other "is forbidden": at first the API server cannot check blockOwnerDeletion of a new kind.
	if output := p.Output(); strings.Contains(output, "is forbidden: User") || strings.Contains(output, "-value") {
		t.Errorf("a permission is missing, or the program prints the token:\n%s", output)
	}
}
