//go:build integration

package main

import (
	"strings"
	"testing"
)

func TestReadme(t *testing.T) {
	c := newCluster(t)
	script := c.Readme(c.Kubeconfig)
	script.Run("kubectl get apiservices", "True")
	script.Run("kubectl api-resources", "toppings")
	script.Run("kubectl apply -f", "topping.aggregated.restaurant.programming-kubernetes.info/tomato created")
	script.Run("kubectl get tp", "mozzarella")
	script.Refused("kubectl create -f", "all toppings together may cost 10000, and would cost 10250")
	script.Run("kubectl wait", "condition met")
	script.Run("kubectl delete topping salami", "deleted")
	script.Refused("kubectl get --raw", `"alice" cannot list resource "toppings"`)
	script.Run("kubectl create clusterrole byhand-cook", "created")
	script.Run("kubectl create clusterrolebinding byhand-cook", "created")
	script.Run("kubectl get tp --as=alice", "tomato")
	script.Refused("kubectl delete topping tomato --as=alice", `"alice" cannot delete resource "toppings"`)
	script.Run("kubectl delete clusterrole", "deleted")
	script.Refused("kubectl get --raw", "only the API server may send requests")

	c.program.Kill()
	script.Run("kubectl get apiservices", "False")
	script.Run("kubectl create namespace byhand-empty", "created")
	script.Run("kubectl delete namespace byhand-empty", "deleted")
	script.Run("kubectl get namespace byhand-empty", "aggregated.restaurant")

	// Remove the registration.
	if output := c.Shell("make -C ../.. chapter-down CHAPTER=apiserver"); !strings.Contains(output, apiServiceName+`" deleted`) {
		t.Errorf("make chapter-down says\n%s", output)
	}
	c.goes(c.Resource(namespaceResource), "byhand-empty")
}
