//go:build bare

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/byhand/internal/testkit/subprocess"
)

// What `make mine` makes works on a real API server with no rights but those of its role, one process
// leads and a second stands by, and behind the glass nothing is found.
func TestMine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "desk")
	// run calls commands of a shell in the repository.
	run := func(commands string) {
		t.Helper()
		command := exec.Command("sh", "-euc", `PATH="$PWD/cluster/bin:$PATH"; `+commands)
		command.Dir, command.Env = "..", append(os.Environ(), "DIR="+dir)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", commands, err, output)
		}
	}
	// start starts a program of the new folder.
	start := func(args ...string) *subprocess.Program {
		command := exec.Command(filepath.Join(dir, args[0]), args[1:]...)
		command.Dir, command.Env = dir, append(os.Environ(), "KUBECONFIG="+filepath.Join(dir, "kubeconfig"))
		return subprocess.Run(t, command, deadline)
	}
	run(`sh exercise/new.sh mine "$DIR"; go build -o "$DIR" ./look; go -C "$DIR" build -o program .`)
	t.Cleanup(func() {
		run(`kubectl delete -f "$DIR/config/crd.yaml" -f "$DIR/config/role.yaml"; kubectl delete --ignore-not-found clusterrolebinding/mine serviceaccount/mine configmap/example configmap/taken`)
	})
	run(`kubectl apply -f "$DIR/config/crd.yaml" -f "$DIR/config/role.yaml"
		kubectl wait --for=condition=Established --timeout=30s -f "$DIR/config/crd.yaml"
		kubectl create serviceaccount mine
		kubectl create clusterrolebinding mine --clusterrole=widgets.mine.example.com --serviceaccount=default:mine
		cp "$KUBECONFIG" "$DIR/kubeconfig"
		kubectl --kubeconfig "$DIR/kubeconfig" config set-credentials mine --token="$(kubectl create token mine)"
		kubectl --kubeconfig "$DIR/kubeconfig" config set-context --current --user=mine --namespace=default`)

	leader := start("look", "--report", "report", "--", "./program", "--leader-elect")
	leader.WaitFor("workers start")
	standby := start("program", "--leader-elect")
	standby.WaitFor("standing by: ")
	run(`is() { kubectl wait --timeout=60s configmap/example --for=create && kubectl wait --timeout=60s configmap/example --for=jsonpath='{.data.text}'="$1"; }
		kubectl apply -f "$DIR/config/sample.yaml"
		kubectl wait --timeout=60s widget/example --for=condition=Ready
		is hello
		kubectl patch widget example --type=merge --patch '{"spec":{"text":"other"}}'
		is other
		kubectl patch configmap example --type=merge --patch '{"data":{"text":"edited"}}'
		is other
		kubectl delete configmap example
		is other
		kubectl create configmap taken
		sed 's/example}/taken}/' "$DIR/config/sample.yaml" | kubectl apply -f -
		kubectl wait --timeout=60s widget/taken --for=jsonpath='{.status.conditions[0].reason}'=NameTaken`)
	leader.Signal(syscall.SIGTERM)
	if code := leader.Exit(); code != 0 {
		t.Errorf("the exit code is %d, want 0", code)
	}
	if report, err := os.ReadFile(filepath.Join(dir, "report")); err != nil || !strings.Contains(string(report), `"findings": []`) {
		t.Errorf("want no finding: %v\n%s", err, report)
	}
	standby.WaitFor("workers start")
	run(`kubectl delete configmap example; kubectl wait --timeout=60s configmap/example --for=create`)
	standby.Signal(syscall.SIGTERM)
	if code := standby.Exit(); code != 0 {
		t.Errorf("of the second program the exit code is %d, want 0", code)
	}
}
