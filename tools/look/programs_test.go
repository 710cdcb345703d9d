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

// look reports for Kubernetes' sample-controller the findings in the README.
func TestSampleController(t *testing.T) {
	s, dir := readme.Open(t, "README.md", "sample-controller"), t.TempDir()
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
	program := subprocess.Run(t, command, deadline)
	program.WaitFor("watches  deployments.apps")
	program.WaitFor("watches  foos.samplecontroller.k8s.io")
	disturb(t, cluster(t), 10, 4, func() {})
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 3 {
		t.Errorf("the exit code is %d, want 3", code)
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if text := string(report); err != nil || !strings.Contains(text, `"no-op-write"`) || !strings.Contains(text, `"client-limit"`) {
		t.Errorf("no-op-write or client-limit is not found: %v\n%s", err, text)
	}
}

// The controller that `make new` creates works on a real API server with only the objects and permissions in
// its deploy/. One process leads, a second is on standby, and look finds nothing.
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
