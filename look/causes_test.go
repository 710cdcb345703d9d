//go:build bare

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/readme"
	"example.com/byhand/internal/testkit/subprocess"
	"example.com/byhand/internal/trace"
)

const deadline = 2 * time.Minute

// behind builds and starts what the README says, and returns the folder of what it writes.
func behind(t *testing.T, heading string) (program *subprocess.Program, dir string) {
	t.Helper()
	s := readme.Open(t, "README.md", heading)
	dir = t.TempDir()
	s.Dir = ".."
	for len(s.Commands) > 1 {
		s.Run("", "")
	}
	command := exec.Command("sh", "-c", "exec "+strings.ReplaceAll(s.Take("bin/look"), "/tmp/", dir+"/"))
	command.Dir = s.Dir
	program = subprocess.Run(t, command, deadline)
	program.WaitFor("watches  foos.samplecontroller.k8s.io")
	program.WaitFor("watches  deployments.apps")
	return program, dir
}

// disturb gives a controller of Foos work of each sort, as far as it can do it, and waits until all is
// as it must be.
func disturb(t *testing.T, foos, sorts int) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("this test needs a cluster of etcd and kube-apiserver alone, see look/README.md: %v", err)
	}
	config.QPS = -1
	ctx := t.Context()
	client, deployments := clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos("default"), kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default")
	t.Cleanup(func() {
		_ = client.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
		_ = deployments.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
	})
	patch := func(text string) func(string) error {
		return func(name string) error {
			_, err := client.Patch(ctx, name, types.MergePatchType, []byte(strings.ReplaceAll(text, "NAME", name)), metav1.PatchOptions{})
			return err
		}
	}
	for _, act := range []func(string) error{
		func(name string) error {
			_, err := client.Create(ctx, &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FooSpec{DeploymentName: name, Replicas: new(int32(1))}}, metav1.CreateOptions{})
			return err
		},
		func(name string) error { // as its controller does
			_, err := deployments.Patch(ctx, name, types.MergePatchType, []byte(`{"status":{"replicas":1,"readyReplicas":1,"availableReplicas":1}}`), metav1.PatchOptions{}, "status")
			return err
		},
		patch(`{"spec":{"replicas":3}}`),
		func(name string) error { // as another client
			_, err := deployments.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{})
			return err
		},
		func(name string) error { return deployments.Delete(ctx, name, metav1.DeleteOptions{}) },
		patch(`{"spec":{"deploymentName":"NAME-renamed"}}`),
	}[:sorts] {
		for i := range foos {
			if err := act(fmt.Sprintf("foo-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, deadline, true, func(ctx context.Context) (bool, error) {
			all, err := client.List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			made, err := deployments.List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			byName := map[string]appsv1.Deployment{}
			for _, d := range made.Items {
				byName[d.Name] = d
			}
			for _, foo := range all.Items {
				d, ok := byName[foo.Spec.DeploymentName]
				if !ok || *d.Spec.Replicas != *foo.Spec.Replicas || foo.Status.AvailableReplicas != d.Status.AvailableReplicas {
					return false, nil
				}
			}
			return len(all.Items) == len(made.Items), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded reads the writes in a recording, and what is known to be their cause: by what was sent, in
// their order.
func recorded(t *testing.T, text []byte, causeOf func(step trace.Step, bySeq map[int64]trace.Step) string) map[string][]string {
	t.Helper()
	steps, err := trace.ReadRecording(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	bySeq, all := map[int64]trace.Step{}, map[string][]string{}
	for _, step := range steps {
		bySeq[step.Seq] = step
		if step.Request == nil || step.Request.Method == "GET" {
			continue
		}
		if cause := causeOf(step, bySeq); cause != "" {
			key := step.Request.Method + " " + step.Request.Path + " " + step.Key
			all[key] = append(all[key], cause)
		}
	}
	return all
}

var (
	fromOutside = regexp.MustCompile(`^because (of its own write: )?(\S+) (\S+) was (\w+)`)
	fromInside  = regexp.MustCompile(`^(our own write: )?(\S+) (\S+) (\w+)`)
	words       = map[string]string{"updated": "changed", "in": "added"} // in the first list
)

// The cause of a write as seen from outside is one that the program itself names.
func TestCauses(t *testing.T) {
	program, dir := behind(t, "Is the cause right?")
	disturb(t, 200, 6)
	program.Signal(syscall.SIGTERM)
	program.Exit()
	record, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err != nil {
		t.Fatal(err)
	}
	outside := recorded(t, record, func(step trace.Step, _ map[int64]trace.Step) string { return step.Cause })
	inside := recorded(t, bytes.Join(regexp.MustCompile(`(?m)^\{.*\n`).FindAll([]byte(program.Output()), -1), nil), func(step trace.Step, bySeq map[int64]trace.Step) string {
		if step.What != trace.Sent {
			return ""
		}
		return bySeq[step.CauseSeq].Cause
	})
	writes, agree, later := 0, 0, 0
	for key, causes := range outside {
		if len(inside[key]) != len(causes) {
			t.Errorf("%s: %d times from outside, %d from inside", key, len(causes), len(inside[key]))
			continue
		}
		for i, cause := range causes {
			writes++
			switch {
			case isOne(cause, inside[key][i]):
				agree++
			case strings.HasPrefix(inside[key][i], "the delay is over"):
				later++ // The program has waited since then, which nobody sees from outside.
			default:
				t.Logf("%s: %s; from inside: %s", key, cause, inside[key][i])
			}
		}
	}
	t.Logf("%d of %d causes agree; %d more were sent after a delay", agree, writes, later)
	if writes < 2000 || agree*100 < 98*(writes-later) {
		t.Errorf("%d of %d causes agree, %d after a delay apart; want at least 98 %% of 2000", agree, writes, later)
	}
}

// A program that nobody here wrote, as it is.
func TestSampleController(t *testing.T) {
	program, dir := behind(t, "A program that nobody here wrote")
	disturb(t, 10, 4)
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 3 {
		t.Errorf("the exit code is %d, want 3", code)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range []string{"no-op-write", "client-limit"} {
		if !strings.Contains(string(text), `"`+finding+`"`) {
			t.Errorf("%s is not found:\n%s", finding, text)
		}
	}
	t.Logf("%s", text)
}

// isOne reports whether a cause is one of those that the program names.
func isOne(cause, inside string) bool {
	seen := fromOutside.FindStringSubmatch(cause)
	for one := range strings.SplitSeq(inside, "; ") {
		is := fromInside.FindStringSubmatch(one)
		if seen == nil || is == nil {
			continue
		}
		what := is[4]
		if other, ok := words[what]; ok {
			what = other
		}
		if (seen[1] == "") == (is[1] == "") && seen[2] == is[2] && path.Base(seen[3]) == is[3] && seen[4] == what {
			return true
		}
	}
	return false
}
