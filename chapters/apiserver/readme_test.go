//go:build integration

package main

import (
	"strings"
	"testing"
)

// Each command of the README does what it says, sooner or later.
func TestReadme(t *testing.T) {
	c := newCluster(t)
	script := c.Readme(c.Kubeconfig)
	script.Run("kubectl get apiservices", "True")
	script.Run("kubectl api-resources", "toppings")
	script.Run("kubectl apply -f", "pizza.aggregated.restaurant.programming-kubernetes.info/margherita created")
	script.Run("kubectl get pz", "margherita")
	script.Run("kubectl get pizzas.v1alpha1", `["tomato","mozzarella","mozzarella"]`)
	script.Run("kubectl get pizzas.v1beta1", `"quantity":2`)
	script.Run("kubectl get --raw", `"cents":250`)
	script.Refused("kubectl delete toppings", "it is in use: pizza default/margherita has it")
	script.Run("kubectl explain", "Toppings are on the pizza from the bottom up")
	script.Refused("kubectl get --raw", `"alice" cannot list resource "toppings"`)
	script.Run("kubectl create clusterrole cook", "created")
	script.Run("kubectl create clusterrolebinding cook", "created")
	script.Refused("kubectl apply --server-side --as=alice", `user "alice" cannot create resource "pizzas"`)
	script.Run("kubectl delete clusterrole", "deleted")

	c.kill()
	script.Run("kubectl create namespace empty", "created")
	script.Run("kubectl delete namespace empty", "deleted")
	script.Run("kubectl get apiservices", "False")
	script.Run("kubectl get namespace empty", "aggregated.restaurant")

	// What ends it.
	if output := c.Shell("make -C ../.. chapter-down CHAPTER=apiserver"); !strings.Contains(output, apiServiceName(hub)+`" deleted`) {
		t.Errorf("make chapter-down says\n%s", output)
	}
	c.goes(c.Resource(namespaceResource), "empty")
}
