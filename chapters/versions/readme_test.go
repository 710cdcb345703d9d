//go:build integration

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/chaptertest"
)

// readmeDeadline is how long a command of the README may take, until it prints what it
// should: a migration takes half a minute, a namespace that was stuck one or two.
const readmeDeadline = 4 * time.Minute

// long is set by make test-long.
var long bool

// Each command of the README runs, and prints what the README says. The short form does
// without what waits for controllers that look every half a minute; make test-long has it.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	checkout := c.checkout()
	shell := func(command string) (string, error) {
		run := exec.Command("sh", "-c", command)
		run.Dir, run.Env = checkout, append(os.Environ(), "GROUP="+group)
		output, err := run.CombinedOutput()
		return string(output), err
	}
	t.Cleanup(func() {
		_, _ = shell("kubectl delete --ignore-not-found --wait=false namespace pizzeria closing; kubectl delete --ignore-not-found storageversionmigration pizzas")
	})

	var p *chaptertest.Program
	// What make chapter does, without the cluster.
	makeChapter := func() {
		c.Kubectl("apply", "-f", "config/crd", "-f", "config/samples")
		p = c.start()
	}
	skip := func() {}
	migrate := func() {
		if err := c.requests.migrate(t.Context(), logTo(t)); err != nil {
			t.Fatal(err)
		}
	}
	const storedVersions = "kubectl get crd pizzas.$GROUP -o jsonpath='{.status.storedVersions}'"
	steps := []struct {
		command string // how the README's line begins
		before  func()
		want    string // in the output, sooner or later
		fails   bool
		short   func() // instead of the command, in the short form
	}{
		{"make chapter CHAPTER=versions", makeChapter, "", false, nil},
		{"kubectl get toppings.v1beta1.$GROUP", nil, "salami", false, nil},
		{"kubectl create namespace pizzeria", nil, "created", false, nil},
		{"kubectl apply -n pizzeria -f chapters/versions/config/pizzas", nil, "pizza.restaurant.programming-kubernetes.info/double", false, nil},
		{"kubectl get -n pizzeria pizzas.v1alpha1.$GROUP", nil, `["salami","tomato","salami"]`, false, nil},
		{"kubectl get -n pizzeria pizzas.v1beta1.$GROUP", nil, `[{"name":"salami","quantity":2},{"name":"tomato","quantity":1}]`, false, nil},
		{"kubectl get -n pizzeria pizza.v1beta1.$GROUP layered -o jsonpath='{.metadata.annotations.v1alpha1", nil, `["salami","tomato","salami"]`, false, nil},
		{"bin/versions stored pizzeria/double", nil, group + "/v1alpha1", false, nil},

		{"kubectl patch crd pizzas.$GROUP --type=json", nil, "patched", false, nil},
		{storedVersions, nil, `["v1alpha1","v1beta1"]`, false, nil},
		{"bin/versions stored pizzeria/double", nil, group + "/v1alpha1", false, nil},
		{"kubectl apply -f chapters/versions/config/migration.yaml", nil, "created", false, skip},
		{"kubectl wait storageversionmigration/pizzas", nil, "condition met", false, migrate},
		{storedVersions, nil, `["v1beta1"]`, false, nil},
		{"bin/versions stored pizzeria/double", nil, group + "/v1beta1", false, nil},

		{"kubectl patch crd pizzas.$GROUP --type=json", nil, "patched", false, nil},
		{"bin/versions migrate", nil, "pizzeria/layered", false, nil},
		{storedVersions, nil, `["v1alpha1"]`, false, nil},
		{"bin/versions stored pizzeria/layered", nil, `"toppings":["salami","tomato","salami"]`, false, nil},

		{"kubectl create namespace closing", func() { p.Kill() }, "created", false, nil},
		{"kubectl apply -n closing -f", nil, "pizza", false, nil},
		{"kubectl get -n closing pizzas.v1alpha1.$GROUP", nil, "layered", false, nil},
		{"kubectl get -n closing pizzas.v1beta1.$GROUP", nil, "corrupt object", true, nil},
		{"kubectl delete namespace closing --wait=false", nil, "deleted", false, nil},
		{"kubectl get namespace closing -o jsonpath=", nil, "conversion webhook", false, skip},
		{"make chapter CHAPTER=versions", makeChapter, "", false, nil},
		{"kubectl wait --for=delete namespace/closing", nil, "", false, skip},

		{"kubectl get crd pizzas.$GROUP -o jsonpath='{.spec.conversion.strategy}", func() { c.stop(p) }, "None v1alpha1", false, nil},
		{"kubectl delete namespace pizzeria", nil, "deleted", false, skip},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("README.md has %q, this test expects %q", commands[i], step.command)
		}
		if step.before != nil {
			step.before()
		}
		if step.short != nil && !long {
			step.short()
			continue
		}
		if strings.HasPrefix(step.command, "make ") {
			continue
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
