//go:build integration

package main

import (
	"os/exec"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// Each command of the README does what it says.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	t.Cleanup(func() {
		c.Kubectl("delete", "--raw", beta+"namespaces/default/pizzas")
	})
	steps := []struct {
		command, want string
		isRefused     bool
	}{
		{"kubectl get apiservices", "True", false},
		{"kubectl api-resources", "toppings", false},
		{"kubectl apply -f", "pizza.aggregated.restaurant.programming-kubernetes.info/margherita created", false},
		{"kubectl get pz", "tomato, 2 mozzarella", false},
		{"kubectl get pizzas.v1alpha1", `["tomato","mozzarella","mozzarella"]`, false},
		{"kubectl get pizzas.v1beta1", `"quantity":2`, false},
		{"kubectl get --raw", `"cents":250`, false},
		{"kubectl delete toppings", "it is in use: pizza default/margherita has it", true},
		{"kubectl explain", "Toppings are on the pizza from the bottom up", false},
		{"kubectl get --raw", `User "alice" cannot list resource "toppings"`, true},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, commands[i], step.command)
		}
		shell := exec.Command("sh", "-c", commands[i])
		shell.Dir = "../.."
		output, err := shell.CombinedOutput()
		if (err != nil) != step.isRefused || !strings.Contains(string(output), step.want) {
			t.Errorf("%s: %v, want %q, got\n%s", commands[i], err, step.want, output)
		}
	}
}
