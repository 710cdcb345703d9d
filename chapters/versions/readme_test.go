//go:build integration

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/chaptertest"
)

// readmeDeadline limits how long a README command is retried for the wanted output: a migration takes half a minute,
// a stuck namespace one or two.
const readmeDeadline = 4 * time.Minute

// long is set by make test-all.
var long bool

// TestReadme runs the README's commands and checks their output. The short form skips commands that
// wait for controllers that run every half a minute; make test-all includes them.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	script := c.Readme(c.Kubeconfig)
	script.Env, script.Patience = append(script.Env, "GROUP="+group), readmeDeadline
	t.Cleanup(func() {
		_, _ = script.Shell("kubectl delete --ignore-not-found --wait=false namespace byhand-pizzeria byhand-closing; kubectl delete --ignore-not-found storageversionmigration byhand-pizzas")
	})
	// Like make chapter, without the cluster.
	makeChapter := func() *chaptertest.Program {
		script.Take("make chapter CHAPTER=versions")
		c.Kubectl("apply", "-f", "config/crd", "-f", "config/samples")
		return c.start()
	}
	// slow runs a command only in the long form.
	slow := func(command, prints string) {
		t.Helper()
		if long {
			script.Run(command, prints)
		} else {
			script.Take(command)
		}
	}

	const storedVersions = "kubectl get crd pizzas.$GROUP -o jsonpath='{.status.storedVersions}'"
	p := makeChapter()
	script.Run("kubectl get toppings.v1beta1.$GROUP", "salami")
	script.Run("kubectl create namespace byhand-pizzeria", "created")
	script.Run("kubectl apply -n byhand-pizzeria -f chapters/versions/config/pizzas", "pizza.restaurant.programming-kubernetes.info/double")
	script.Run("kubectl get -n byhand-pizzeria pizzas.v1alpha1.$GROUP", `["salami","tomato","salami"]`)
	script.Run("kubectl get -n byhand-pizzeria pizzas.v1beta1.$GROUP", `[{"name":"salami","quantity":2},{"name":"tomato","quantity":1}]`)
	script.Run("kubectl get -n byhand-pizzeria pizza.v1beta1.$GROUP layered -o jsonpath='{.metadata.annotations.v1alpha1", `["salami","tomato","salami"]`)
	const double = "kubectl get --raw /apis/$GROUP/v1%s/namespaces/byhand-pizzeria/pizzas/double"
	// converts runs a GET in a version other than the stored one.
	converts := func(version string) {
		t.Helper()
		line := `"byhand-pizzeria/double" to ` + group + "/v1" + version
		before := strings.Count(p.Output(), line)
		script.Run(fmt.Sprintf(double, version), `"kind":"Pizza"`)
		p.Prints(before+1, line)
	}
	script.Run(fmt.Sprintf(double, "alpha1"), `"kind":"Pizza"`)
	converts("beta1")

	script.Run("kubectl patch crd pizzas.$GROUP --type=json", "patched")
	script.Run(storedVersions, `["v1alpha1","v1beta1"]`)
	script.Run(fmt.Sprintf(double, "alpha1"), `"kind":"Pizza"`)
	slow("kubectl apply -f chapters/versions/config/migration.yaml", "created")
	slow("kubectl wait storageversionmigration/byhand-pizzas", "condition met")
	if !long {
		c.migrate("v1beta1")
	}
	script.Run(storedVersions, `["v1beta1"]`)
	converts("alpha1")

	script.Run("kubectl patch crd pizzas.$GROUP --type=json", "patched")
	slow("kubectl replace --force -f chapters/versions/config/migration.yaml", "replaced")
	slow("kubectl wait storageversionmigration/byhand-pizzas", "condition met")
	if !long {
		c.migrate("v1alpha1")
	}
	script.Run(storedVersions, `["v1alpha1"]`)
	script.Run("kubectl get -n byhand-pizzeria pizza.v1alpha1.$GROUP layered -o jsonpath='{.spec.toppings}'", `["salami","tomato","salami"]`)

	p.Kill()
	script.Run("kubectl create namespace byhand-closing", "created")
	script.Run("kubectl apply -n byhand-closing -f", "pizza")
	script.Run("kubectl get -n byhand-closing pizzas.v1alpha1.$GROUP", "layered")
	script.Refused("kubectl get -n byhand-closing pizzas.v1beta1.$GROUP", "corrupt object")
	script.Run("kubectl delete namespace byhand-closing --wait=false", "deleted")
	slow("kubectl get namespace byhand-closing -o jsonpath=", "conversion webhook")
	p = makeChapter()
	slow("kubectl wait --for=delete namespace/byhand-closing", "")

	p.Stop()
	script.Run("kubectl get crd pizzas.$GROUP -o jsonpath='{.spec.conversion.strategy}", "None v1alpha1")
	slow("kubectl delete namespace byhand-pizzeria", "deleted")
}
