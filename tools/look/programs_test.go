//go:build bare

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/internal/tests/readme"
)

// behind runs the commands of a section of the README up to the one that starts a program behind the
// proxy, and starts that. It returns the section with what is left, and the folder of what is written.
func behind(t *testing.T, heading, watches string) (s *readme.Script, program *subprocess.Program, dir string) {
	t.Helper()
	s, dir = readme.Open(t, "README.md", heading), t.TempDir()
	s.Dir = "../.."
	for i, command := range s.Commands {
		s.Commands[i] = strings.ReplaceAll(command, "/tmp/", dir+"/")
	}
	if output, err := s.Shell("go build -o bin/ ./tools/look"); err != nil {
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
	t.Cleanup(func() { _, _ = s.Shell("bin/kubectl delete deployments,replicasets,pods --all") })
	s.Run("bin/kubectl create deployment")
	// Which event comes first, and whether a write of the status meets a conflict, differs from run to run.
	for _, line := range []string{
		`sent     POST .*/replicasets → 201  \(because Deployment default/web was added, `,
		`sent     POST .*/pods → 201  \(because of its own write: (ReplicaSet|Pod) default/web-`,
		`sent     PUT .*/replicasets/web-\w+/status → 200: .*status.replicas 0 → 2`,
		`sent     PUT .*/deployments/web/status → 200: `,
	} {
		program.Prints(1, line)
	}
	s.Run("bin/kubectl delete deployment")
	program.Prints(1, `sent     DELETE .*/replicasets/web-\w+ → 200`)
	program.Prints(2, `sent     DELETE .*/pods/web-\w+-\w+ → 200`)
	found(t, program, dir, "all-secrets")
}

// kubectl does behind the proxy what it does elsewhere: it applies, watches, and reads tables.
func TestKubectl(t *testing.T) {
	script := `set -e; PATH="$PWD/../../bin:$PATH"
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

// What `make new` makes works on a real API server with no rights but those of its role, one process
// leads and a second stands by, and behind the proxy nothing is found.
func TestMine(t *testing.T) {
	script := `PATH="$PWD/bin:$PATH"
		says() { until grep -q "$2" "$1"; do sleep 0.1; done; }
		trap 'cat leader standby; kill $leader $standby || true
			kubectl delete --wait=false -k deploy
			kubectl delete --ignore-not-found configmap/example configmap/taken' EXIT
		make new DIR="$DIR"
		go build -o "$DIR" ./tools/look
		cp "$KUBECONFIG" "$DIR/kubeconfig"
		cd "$DIR"
		go build -o program .
		kubectl apply -k deploy
		kubectl wait --for=condition=Established --timeout=30s -f config/crd.yaml
		kubectl --kubeconfig kubeconfig config set-credentials mine --token="$(kubectl create token --namespace=widget-controller widget-controller)"
		kubectl --kubeconfig kubeconfig config set-context --current --user=mine --namespace=default

		KUBECONFIG=kubeconfig ./look --report report -- ./program --leader-elect > leader 2>&1 & leader=$!
		says leader 'workers start'
		KUBECONFIG=kubeconfig ./program --leader-elect > standby 2>&1 & standby=$!
		says standby 'standing by: '

		is() { kubectl wait --timeout=60s configmap/example --for=create && kubectl wait --timeout=60s configmap/example --for=jsonpath='{.data.text}'="$1"; }
		kubectl apply -f config/sample.yaml
		kubectl wait --timeout=60s widget/example --for=condition=Ready
		is hello
		kubectl patch widget example --type=merge --patch '{"spec":{"text":"other"}}'
		is other
		kubectl patch configmap example --type=merge --patch '{"data":{"text":"edited"}}'
		is other
		kubectl delete configmap example
		is other
		kubectl create configmap taken
		sed 's/example}/taken}/' config/sample.yaml | kubectl apply -f -
		kubectl wait --timeout=60s widget/taken --for=jsonpath='{.status.conditions[0].reason}'=NameTaken

		kill $leader
		wait $leader
		grep '"findings": \[\]' report
		says standby 'workers start'
		kubectl delete configmap example
		is other
		kill $standby
		wait $standby
		echo all is well`
	command := exec.Command("sh", "-euxc", script)
	command.Dir, command.Env = "../..", append(os.Environ(), "DIR="+filepath.Join(t.TempDir(), "desk"))
	program := subprocess.Run(t, command, deadline)
	program.WaitFor("all is well")
	program.Exit()
}
