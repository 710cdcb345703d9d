//go:build integration

package main

import (
	"os"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	p := c.Start("--kubeconfig", c.AccountWith("byhand-informer"), "--namespace", c.Namespace, "-v=1")
	p.Prints(1, `(?m)^ready: 0 Foos, 0 Deployments`)
	script := c.Readme(c.Here())
	script.Run("kubectl apply -f config/samples/foo.yaml")
	p.Prints(1, `reflector.go:\d+\] ADDED foos `+c.Namespace+`/example-foo`)
	p.Prints(1, `the store takes Updated `+c.Namespace+`/example-foo \(existed: false\)`)
	p.Prints(1, `queue.go:\d+\] a worker takes `+c.Namespace+`/example-foo`)
	script.Run("kubectl wait --for=condition=Ready foo/example-foo", "condition met")
	script.Run("kubectl scale foo example-foo --replicas=3")
	script.Run("kubectl get deployment example-foo", "3")
	script.Run("kubectl delete foo example-foo")
	p.Prints(1, `reflector.go:\d+\] DELETED foos `+c.Namespace+`/example-foo`)
	script.Run("(cd chapters", "--- PASS: TestStories/deletion_missed")
	script.Take("make judge") // takes minutes
	p.Stop()
}

// TestMistakes: an invalid command line gets one line that says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p := chaptertest.New(t).Start("--client-go", "fifo,informer")
	const want = `informer: --client-go: unknown part ["informer"] (see --help)` + "\n"
	if code := p.Exit(); code != 1 || p.Output() != want {
		t.Errorf("exit code %d, output %q, want 1, %q", code, p.Output(), want)
	}
}
