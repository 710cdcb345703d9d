//go:build integration

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// Each command of the README does what it says, sooner or later.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	stage1 := func() {
		c.stop()
		c.run("--stage", "1")
	}
	kill := func() {
		c.stop()
		c.run()
		c.kill()
	}
	steps := []struct {
		command string // how the README's line begins
		before  func()
		want    string
	}{
		{"kubectl get apiservices", nil, "True"},
		{"kubectl api-resources", nil, "toppings"},
		{"kubectl apply -f", nil, "pizza.aggregated.restaurant.programming-kubernetes.info/margherita created"},
		{"kubectl get pz", nil, "tomato, mozzarella, mozzarella"},
		{"kubectl get pizzas.v1alpha1", nil, `["tomato","mozzarella","mozzarella"]`},
		{"kubectl get pizzas.v1beta1", nil, `"quantity":2`},
		{"kubectl get --raw", nil, `"cents":250`},
		{"kubectl delete toppings", nil, "it is in use: pizza default/margherita has it"},
		{"kubectl explain", nil, "Toppings are on the pizza from the bottom up"},
		{"kubectl get --raw", nil, `"alice" cannot list resource "toppings"`},
		{"make chapter CHAPTER=apiserver ARGS='--store bin/restaurant --stage 1'", stage1, ""},
		{"kubectl api-resources", nil, "get,list "},
		{"kubectl create namespace empty", kill, "created"},
		{"kubectl delete namespace empty", nil, "deleted"},
		{"kubectl get apiservices", nil, "False"},
		{"kubectl get namespace empty", nil, "aggregated.restaurant"},
	}
	commands := chaptertest.Commands(t, "Try it")
	if len(commands) != len(steps) {
		t.Fatalf("README.md has %d commands, this test knows %d", len(commands), len(steps))
	}
	for i, step := range steps {
		if !strings.HasPrefix(commands[i], step.command) {
			t.Fatalf("command %d of README.md is %q, this test expects %q", i+1, commands[i], step.command)
		}
		if step.before != nil {
			step.before()
		}
		if !strings.HasPrefix(step.command, "make") {
			c.says(commands[i], step.want)
		}
	}
	// What ends it.
	c.says("make chapter-down CHAPTER=apiserver", apiServiceName(hub)+`" deleted`)
	c.goes(c.Resource(namespaceResource), "empty")
}

// says runs a command of the README until it says this.
func (c *cluster) says(command, want string) {
	c.Helper()
	c.Eventually(command, func() error {
		shell := exec.Command("sh", "-c", command)
		shell.Dir = "../.."
		if output, err := shell.CombinedOutput(); !strings.Contains(string(output), want) {
			return fmt.Errorf("%v, want %q, got\n%s", err, want, output)
		}
		return nil
	})
}
