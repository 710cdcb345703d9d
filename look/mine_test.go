//go:build bare

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/byhand/internal/testkit/subprocess"
)

// What `make mine` makes works on a real API server with no rights but those of its role, one process
// leads and a second stands by, and behind the glass nothing is found.
func TestMine(t *testing.T) {
	script := `PATH="$PWD/cluster/bin:$PATH"
		says() { until grep -q "$2" "$1"; do sleep 0.1; done; }
		trap 'cat leader standby; kill $leader $standby
			kubectl delete -f config/crd.yaml -f config/role.yaml
			kubectl delete --ignore-not-found clusterrolebinding/mine serviceaccount/mine configmap/example configmap/taken' EXIT
		sh exercise/new.sh mine "$DIR"
		go build -o "$DIR" ./look
		cp "$KUBECONFIG" "$DIR/kubeconfig"
		cd "$DIR"
		go build -o program .
		kubectl apply -f config/crd.yaml -f config/role.yaml
		kubectl wait --for=condition=Established --timeout=30s -f config/crd.yaml
		kubectl create serviceaccount mine
		kubectl create clusterrolebinding mine --clusterrole=widgets.mine.example.com --serviceaccount=default:mine
		kubectl --kubeconfig kubeconfig config set-credentials mine --token="$(kubectl create token mine)"
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
	command.Dir, command.Env = "..", append(os.Environ(), "DIR="+filepath.Join(t.TempDir(), "desk"))
	program := subprocess.Run(t, command, deadline)
	program.WaitFor("all is well")
	program.Exit()
}
