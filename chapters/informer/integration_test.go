//go:build integration

package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/clientset"
)

// The commands of the README do what it says, with the rights in config/rbac.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	p := c.Start("--kubeconfig", c.AccountWith("byhand-informer"), "--namespace", c.Namespace, "--trace")
	p.Prints(1, `(?m)^ready: 0 Foos, 0 Deployments`)
	script := c.Readme(c.Here())
	script.Run("kubectl apply -f config/samples/foo.yaml")
	p.Prints(1, `reflector +ADDED foos `+c.Namespace+`/example-foo`)
	p.Prints(1, `store +Added `+c.Namespace+`/example-foo \(existed: false\)`)
	p.Prints(1, `queue +a worker takes `+c.Namespace+`/example-foo`)
	script.Run("kubectl wait --for=condition=Ready foo/example-foo", "condition met")
	script.Run("kubectl scale foo example-foo --replicas=3")
	script.Run("kubectl get deployment example-foo", "3")
	script.Run("kubectl delete foo example-foo")
	p.Prints(1, `reflector +DELETED foos `+c.Namespace+`/example-foo`)
	script.Run("(cd chapters", "--- PASS: TestStories/deletion_missed")
	// Minutes.
	script.Skip("make judge")
	script.Skip("cd cluster")
	p.Stop()
}

// With each part of client-go in place of ours, and with several, the program does the same.
func TestParts(t *testing.T) {
	t.Parallel()
	for i, parts := range []string{"reflector", "fifo", "store", "shared", "queue", "reflector,fifo,store,queue", "fifo,queue"} {
		c := chaptertest.New(t)
		p := c.Start("--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace, "--client-go", parts)
		name := fmt.Sprintf("foo-%d", i)
		c.Apply("apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata:\n  name: " + name + "\nspec:\n  deploymentName: " + name + "\n  replicas: 2\n")
		foos := clientset.NewForConfigOrDie(c.Config).SamplecontrollerV1alpha1().Foos(c.Namespace)
		c.Eventually("--client-go="+parts+": the status has the replicas", func() error {
			foo, err := foos.Get(c.Context(), name, metav1.GetOptions{})
			if err == nil && foo.Status.AvailableReplicas != 2 {
				err = fmt.Errorf("status %+v", foo.Status)
			}
			return err
		})
		p.Stop()
	}
}

// A mistake in the command line gets one line that says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	chaptertest.Mistakes(t, map[string][]string{
		`no part "informer"`:         {"--client-go", "fifo,informer"},
		"cannot read the kubeconfig": {"--kubeconfig", "/nowhere"},
	})
}
