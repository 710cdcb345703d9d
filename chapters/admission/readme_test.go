//go:build integration

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/chapters/internal/chaptertest"
)

// TestReadme runs the commands of README.md, one after the other, and what it promises comes
// true. The program is asked about the test's namespace alone.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = c.Namespace
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kubectl("delete", "--ignore-not-found", "topping", "pineapple")
		c.Kubectl("delete", "--ignore-not-found", "-f", "config/places")
	})

	var p *chaptertest.Program
	const three = `["tomato","mozzarella","salami"]`
	const pizzas = "kubectl create --dry-run=server -o jsonpath="
	steps := []struct {
		command string // how the README's line begins
		before  func()
		refused bool
		want    []string // in the output, sooner or later
	}{
		{"make cluster", nil, false, nil},
		{"kubectl apply -f chapters/admission/config/crd", nil, false, []string{"pizzas.restaurant", "toppings.restaurant"}},
		{pizzas, nil, false, []string{"empty: []\n", "none: \n", `pineapple: ["tomato","pineapple"]`}},

		{"kubectl apply -f chapters/admission/config/places/1-schema.yaml", nil, false, nil},
		{"kubectl wait", nil, false, []string{"condition met"}},
		{"sed 's/restaurant/schema.&/'", nil, true, []string{"empty: []\n", "none: " + three, `spec.toppings[1]: Unsupported value: "pineapple"`}},

		{"kubectl apply -f chapters/admission/config/places/2-cel.yaml", nil, false, nil},
		{"kubectl wait", nil, false, []string{"condition met"}},
		{"sed 's/restaurant/cel.&/'", nil, true, []string{"empty: []\n", "none: \n", "unknown topping: pineapple"}},
		{"sed '/maxItems/d; /maxLength/d'", nil, true, []string{"estimated rule cost exceeds budget"}},

		{"kubectl create configmap menu", nil, false, nil},
		{"kubectl apply -f chapters/admission/config/places/3-validating-policy.yaml", nil, false, nil},
		{pizzas, nil, true, []string{"empty: []\n", "none: \n", "ValidatingAdmissionPolicy 'known-toppings'", "unknown toppings: pineapple"}},
		{"kubectl delete -f chapters/admission/config/places/3-validating-policy.yaml", nil, false, nil},
		{"kubectl apply -f chapters/admission/config/places/4-mutating-policy.yaml", nil, false, nil},
		{pizzas, nil, false, []string{"empty: " + three, "none: " + three, `pineapple: ["tomato","pineapple"]`}},
		{"kubectl delete -f chapters/admission/config/places/4-mutating-policy.yaml", nil, false, nil},

		{"make chapter CHAPTER=admission", func() { p = c.start(kubeconfig) }, false, nil},
		{pizzas, nil, true, []string{"empty: " + three, "none: " + three, `denied the request: there is no topping "pineapple"`}},
		{"kubectl get validatingwebhookconfiguration byhand-admission", nil, false, []string{"https://127.0.0.1:"}},
		{"sed s/salami/pineapple/", nil, false, []string{"topping.restaurant.programming-kubernetes.info/pineapple created"}},
		{"kubectl create -f chapters/admission/config/pizzas/pineapple.yaml", nil, false, []string{"created"}},
		{"kubectl delete topping pineapple", nil, false, []string{"deleted"}},
		{"kubectl label pizza pineapple old=true", nil, false, []string{"labeled"}},

		{"kubectl create --dry-run=server -f", func() { p.Signal(syscall.SIGSTOP) }, true, []string{"context deadline exceeded"}},
		{"kubectl create --dry-run=server -f", func() { p.Kill() }, true, []string{"connection refused"}},
		{"kubectl delete pizza pineapple", nil, false, []string{"deleted"}},
		{"kubectl patch mutatingwebhookconfiguration byhand-admission", nil, false, []string{"patched"}},
		{"kubectl patch validatingwebhookconfiguration byhand-admission", nil, false, []string{"patched"}},
		{pizzas, nil, false, []string{"empty: []\n", "none: \n", `pineapple: ["tomato","pineapple"]`}},
		{"kubectl delete configmap menu", nil, false, nil},
		{"make chapter-down CHAPTER=admission", nil, false, nil},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		command := commands[i]
		if !strings.HasPrefix(command, step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, command, step.command)
		}
		if step.before != nil {
			step.before()
		}
		switch command {
		case "make cluster", "make chapter CHAPTER=admission":
			continue // the test's cluster, and what before has started
		case "make chapter-down CHAPTER=admission":
			command = "sh chapters/admission/down.sh" // other tests use the definitions
		}
		c.Eventually(command, func() error {
			output, err := c.shell(kubeconfig, command)
			for _, want := range step.want {
				if !strings.Contains(output, want) {
					return fmt.Errorf("want %q (%v), got\n%s", want, err, output)
				}
			}
			if (err != nil) != step.refused {
				return fmt.Errorf("%v, and refused must be %t\n%s", err, step.refused, output)
			}
			return nil
		})
	}
	if c.registered() {
		t.Error("the registration is still there")
	}
}
