//go:build integration

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/chaptertest"
)

// readmeDeadline is how long a command of the README may take, until it prints what it
// should: a migration takes half a minute, a namespace that was stuck one or two.
const readmeDeadline = 4 * time.Minute

// Each command of the README runs, and prints what the README says.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	t.Setenv("GROUP", group)
	checkout := c.checkout()
	shell := func(command string) (string, error) {
		run := exec.Command("sh", "-c", command)
		run.Dir = checkout
		output, err := run.CombinedOutput()
		return string(output), err
	}
	t.Cleanup(func() {
		_, _ = shell("kubectl delete --ignore-not-found --wait=false namespace pizzeria closing; kubectl delete --ignore-not-found storageversionmigration pizzas")
	})

	p := c.start()
	again := func() {
		c.Kubectl("apply", "-f", "config/crd", "-f", "config/samples")
		p = c.start()
	}
	c.Kubectl("apply", "-f", "config/samples")
	const storedVersions = "kubectl get crd pizzas.$GROUP -o jsonpath='{.status.storedVersions}'"
	for i, step := range []struct {
		command string // how the README's line begins
		before  func()
		want    string // in the output, sooner or later
		fails   bool
	}{
		{"kubectl get toppings.v1beta1.$GROUP", nil, "salami", false},
		{"kubectl create namespace pizzeria", nil, "created", false},
		{"kubectl apply -n pizzeria -f chapters/versions/config/pizzas", nil, "pizza.restaurant.programming-kubernetes.info/double", false},
		{"kubectl get -n pizzeria pizzas.v1alpha1.$GROUP", nil, `["salami","tomato","salami"]`, false},
		{"kubectl get -n pizzeria pizzas.v1beta1.$GROUP", nil, `[{"name":"salami","quantity":2},{"name":"tomato","quantity":1}]`, false},
		{"kubectl get -n pizzeria pizza.v1beta1.$GROUP layered -o jsonpath='{.metadata.annotations}'", nil, `[\"salami\",\"tomato\",\"salami\"]`, false},
		{"bin/versions stored pizzeria/double", nil, group + "/v1alpha1", false},

		{"kubectl patch crd pizzas.$GROUP --type=json", nil, "patched", false},
		{storedVersions, nil, `["v1alpha1","v1beta1"]`, false},
		{"bin/versions stored pizzeria/double", nil, group + "/v1alpha1", false},
		{"kubectl apply -f chapters/versions/config/migration.yaml", nil, "created", false},
		{"kubectl wait storageversionmigration/pizzas", nil, "condition met", false},
		{storedVersions, nil, `["v1beta1"]`, false},
		{"bin/versions stored pizzeria/double", nil, group + "/v1beta1", false},

		{"kubectl patch crd pizzas.$GROUP --type=json", nil, "patched", false},
		{"bin/versions migrate", nil, "pizzeria/layered", false},
		{storedVersions, nil, `["v1alpha1"]`, false},
		{"bin/versions stored pizzeria/layered", nil, `"toppings":["salami","tomato","salami"]`, false},

		{"kubectl create namespace closing", func() { p.Kill() }, "created", false},
		{"kubectl apply -n closing -f", nil, "pizza", false},
		{"kubectl get -n closing pizzas.v1alpha1.$GROUP", nil, "layered", false},
		{"kubectl get -n closing pizzas.v1beta1.$GROUP", nil, "conversion webhook", true},
		{"kubectl delete namespace closing --wait=false", nil, "deleted", false},
		{"kubectl get namespace closing -o jsonpath=", nil, "conversion webhook", false},
		{"make chapter CHAPTER=versions", again, "", false},
		{"kubectl wait --for=delete namespace/closing", nil, "", false},

		{"kubectl get crd pizzas.$GROUP -o jsonpath='{.spec.conversion.strategy}", func() { c.stop(p) }, "None v1alpha1", false},
		{"kubectl delete namespace pizzeria", nil, "deleted", false},
	} {
		commands := chaptertest.Commands(t, "Try it")
		if i >= len(commands) || !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of %q, this test expects %q", i+1, commands, step.command)
		}
		if step.before != nil {
			step.before()
		}
		if strings.HasPrefix(step.command, "make ") {
			continue // before does what it does
		}
		start := time.Now()
		for {
			output, err := shell(commands[i])
			if (err != nil) == step.fails && strings.Contains(output, step.want) {
				t.Logf("%6.1f s  %s", time.Since(start).Seconds(), commands[i])
				break
			}
			if time.Since(start) > readmeDeadline {
				t.Fatalf("%s: %v, want %q, got\n%s", commands[i], err, step.want, output)
			}
			time.Sleep(100 * time.Millisecond) // between two looks
		}
	}
}

// make chapter-down takes the webhook away from a program that was killed, after a change
// of the storage version: the worst case, because the deletion of the CRD converts.
func TestChapterDown(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	c.Kubectl("apply", "-f", "config/pizzas")
	c.store("v1beta1")
	p.Kill()
	for _, command := range []string{"sh down.sh", "kubectl delete --ignore-not-found --timeout=60s -f config/crd", "sh down.sh"} {
		if output, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	if err := c.storedAs(c.Namespace+"/layered", "v1alpha1"); err == nil || !strings.Contains(err.Error(), "nothing is stored") {
		t.Errorf("etcd after chapter-down: %v", err)
	}
	// For the tests that follow.
	c.reset()
}

// Ended while Pizzas are stored as v1beta1, the program leaves a definition that works for
// v1beta1 without it, and hands out nothing wrong. Started again it converts them all.
func TestEndAfterMigration(t *testing.T) {
	c := newCluster(t)
	p := c.start()
	c.Kubectl("apply", "-f", "config/pizzas")
	c.store("v1beta1")
	if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
		t.Fatal(err)
	}
	c.stop(p)
	p.Prints(1, "kept: ")
	if output := c.Kubectl("get", betaPizzas, "layered", "-o", "jsonpath={.spec.toppings}"); !strings.Contains(output, `"quantity":2`) {
		t.Errorf("v1beta1 without the program: %s", output)
	}
	c.Kubectl("label", betaPizzas, "layered", "seen=yes")
	c.KubectlFails("get", alphaPizzas, "layered")

	// make chapter applies the definition. Now v1alpha1 is served, and fails aloud.
	c.Kubectl("apply", "-f", "config/crd", "-f", "config/samples")
	c.Eventually("v1alpha1 of what is stored as v1beta1 fails", func() error {
		if output := c.KubectlFails("get", alphaPizzas, "layered", "-o", "jsonpath={.spec}"); !strings.Contains(output, "conversion webhook") {
			return fmt.Errorf("%s", output)
		}
		return nil
	})
	p = c.start()
	if output := c.Kubectl("get", alphaPizzas, "layered", "-o", "jsonpath={.spec.toppings}"); output != `["salami","tomato","salami"]` {
		t.Errorf("v1alpha1 with the program: %s", output)
	}
	if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
		t.Fatal(err)
	}
	c.stop(p)
	p.Prints(1, "taken away: ")
}
