//go:build bare

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/byhand/internal/testkit/readme"
	"example.com/byhand/internal/testkit/subprocess"
)

// behind runs the commands of a section of the README up to the one that starts a program behind the
// glass, and starts that. It returns the section with what is left, and the folder of what is written.
func behind(t *testing.T, heading, watches string) (s *readme.Script, program *subprocess.Program, dir string) {
	t.Helper()
	s, dir = readme.Open(t, "README.md", heading), t.TempDir()
	s.Dir = ".."
	for i, command := range s.Commands {
		s.Commands[i] = strings.ReplaceAll(command, "/tmp/", dir+"/")
	}
	if output, err := s.Shell("go build -o bin/ ./look"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for !strings.HasPrefix(s.Commands[0], "bin/look") {
		s.Run("")
	}
	command := exec.Command("sh", "-c", "exec "+s.Take("bin/look"))
	command.Dir = s.Dir
	program = subprocess.Run(t, command, deadline)
	program.WaitFor("watches  " + watches)
	return s, program, dir
}

// found ends the program, and returns the report.
func found(t *testing.T, program *subprocess.Program, dir string, names ...string) {
	t.Helper()
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 3 {
		t.Errorf("the exit code is %d, want 3", code)
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.json"))
	for _, name := range names {
		if !strings.Contains(string(report), `"`+name+`"`) {
			t.Errorf("%s is not found: %v", name, err)
		}
	}
	t.Logf("%s", report)
}

// Kubernetes' own example.
func TestSampleController(t *testing.T) {
	_, program, dir := behind(t, "sample-controller", "deployments.apps")
	program.WaitFor("watches  foos.samplecontroller.k8s.io")
	disturb(t, cluster(t), 10, 4, func() {})
	found(t, program, dir, "no-op-write", "client-limit")
}

// The chain from a Deployment to its Pods.
func TestControllerManager(t *testing.T) {
	s, program, dir := behind(t, "kube-controller-manager", "deployments.apps")
	t.Cleanup(func() { _, _ = s.Shell("cluster/bin/kubectl delete deployments,replicasets,pods --all") })
	s.Run("cluster/bin/kubectl create deployment")
	// Which event comes first, and whether a write of the status meets a conflict, differs from run to run.
	for _, line := range []string{
		`sent     POST .*/replicasets → 201  \(because Deployment default/web was added, `,
		`sent     POST .*/pods → 201  \(because of its own write: (ReplicaSet|Pod) default/web-`,
		`sent     PUT .*/replicasets/web-\w+/status → 200: .*status.replicas 0 → 2`,
		`sent     PUT .*/deployments/web/status → 200: `,
	} {
		program.Prints(1, line)
	}
	s.Run("cluster/bin/kubectl delete deployment")
	program.Prints(1, `sent     DELETE .*/replicasets/web-\w+ → 200`)
	program.Prints(2, `sent     DELETE .*/pods/web-\w+-\w+ → 200`)
	found(t, program, dir, "all-secrets")
}

// kubectl does behind the glass what it does elsewhere: it applies, watches, and reads tables.
func TestKubectl(t *testing.T) {
	script := `set -e; PATH="$PWD/../cluster/bin:$PATH"
		kubectl get configmaps --watch --output=name > "$0" &
		echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}' | kubectl apply -f -
		echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"b"}}' | kubectl apply --server-side --force-conflicts -f -
		until grep -q configmap/applied "$0"; do kubectl get --raw /readyz > /dev/null; done
		kubectl get configmaps | grep 'applied *1'
		kubectl explain configmap.data | grep KIND
		kubectl delete configmap applied
		kill $!; echo all is well`
	program := subprocess.Run(t, exec.Command("go", "run", ".", "--page=", "--", "sh", "-c", script, filepath.Join(t.TempDir(), "watched")), deadline)
	program.WaitFor("all is well")
	program.WaitFor("sent     PATCH")
	program.Exit()
}
