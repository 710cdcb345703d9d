//go:build integration

package main

import (
	"syscall"
	"testing"
)

// TestReadme runs README.md's commands and checks their results. The program reviews only the test's
// namespace.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	kubeconfig := c.Here()
	t.Cleanup(func() {
		c.Kubectl("delete", "--ignore-not-found", "topping", "pineapple")
		c.Kubectl("delete", "--ignore-not-found", "-f", "config/places")
	})

	script := c.Readme(kubeconfig)
	const three = `["tomato","mozzarella","salami"]`
	const pizzas = "kubectl create --dry-run=server -o jsonpath="
	script.Take("make cluster") // the test has one
	script.Run("kubectl apply -f chapters/admission/config/crd", "pizzas.restaurant", "toppings.restaurant")
	script.Run(pizzas, "empty: []\n", "none: \n", `pineapple: ["tomato","pineapple"]`)

	script.Run("kubectl apply -f chapters/admission/config/places/1-schema.yaml")
	script.Run("kubectl wait", "condition met")
	script.Refused("sed 's/restaurant/schema.&/'", "empty: []\n", "none: "+three, `spec.toppings[1]: Unsupported value: "pineapple"`)

	script.Run("kubectl apply -f chapters/admission/config/places/2-cel.yaml")
	script.Run("kubectl wait", "condition met")
	script.Refused("sed 's/restaurant/cel.&/'", "empty: []\n", "none: \n", "unknown topping: pineapple")
	script.Refused("sed '/maxItems/d; /maxLength/d'", "estimated rule cost exceeds budget")

	script.Run("kubectl create configmap byhand-menu")
	script.Run("kubectl apply -f chapters/admission/config/places/3-validating-policy.yaml")
	script.Refused(pizzas, "empty: []\n", "none: \n", "ValidatingAdmissionPolicy 'byhand-known-toppings'", "unknown toppings: pineapple")
	script.Run("kubectl delete -f chapters/admission/config/places/3-validating-policy.yaml")
	script.Run("kubectl apply -f chapters/admission/config/places/4-mutating-policy.yaml")
	script.Run(pizzas, "empty: "+three, "none: "+three, `pineapple: ["tomato","pineapple"]`)
	script.Run("kubectl delete -f chapters/admission/config/places/4-mutating-policy.yaml")

	script.Take("make chapter CHAPTER=admission")
	p := c.start(kubeconfig)
	script.Refused(pizzas, "empty: "+three, "none: "+three, `denied the request: there is no topping "pineapple"`)
	script.Run("kubectl get validatingwebhookconfiguration byhand-admission", "https://127.0.0.1:")
	script.Run("sed s/salami/pineapple/", "topping.restaurant.programming-kubernetes.info/pineapple created")
	script.Run("kubectl create -f chapters/admission/config/pizzas/pineapple.yaml", "created")
	script.Run("kubectl delete topping pineapple", "deleted")
	script.Run("kubectl label pizza pineapple old=true", "labeled")

	p.Signal(syscall.SIGSTOP)
	script.Refused("kubectl create --dry-run=server -f", "context deadline exceeded")
	p.Kill()
	script.Refused("kubectl create --dry-run=server -f", "connection refused")
	script.Run("kubectl delete pizza pineapple", "deleted")
	script.Run("kubectl patch mutatingwebhookconfiguration byhand-admission", "patched")
	script.Run("kubectl patch validatingwebhookconfiguration byhand-admission", "patched")
	script.Run(pizzas, "empty: []\n", "none: \n", `pineapple: ["tomato","pineapple"]`)
	script.Run("kubectl delete configmap byhand-menu")

	// Run only the script: other tests need the CRDs.
	script.Take("make chapter-down CHAPTER=admission")
	c.Shell("cd ../.. && sh chapters/admission/down.sh")
	if c.registered() {
		t.Error("the registration is still there")
	}
}
