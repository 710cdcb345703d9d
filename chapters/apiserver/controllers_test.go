//go:build integration

package main

import (
	"fmt"
	"testing"
)

// TestGarbageCollection: the garbage collector follows owner references to Toppings and from
// Toppings. A Topping has no namespace, so its owners must be cluster-scoped, too.
func TestGarbageCollection(t *testing.T) {
	c := newCluster(t)
	configMaps, roles := c.Resource(configMapResource).Namespace(c.Namespace), c.Resource(clusterRoleResource)
	toppings := c.Resource(toppingResource)
	// create creates an object, with an owner unless that is "", and returns a reference to the object.
	create := func(apiVersion, kind, name, owner string) string {
		c.Helper()
		spec := ""
		if kind == "Topping" {
			spec = ", spec: {cost: 1}"
		}
		c.Apply(fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, ownerReferences: [%s]}%s}", apiVersion, kind, name, owner, spec))
		uid := c.Kubectl("get", kind, name, "-o", "jsonpath={.metadata.uid}")
		return fmt.Sprintf("{apiVersion: %s, kind: %s, name: %s, uid: %s, blockOwnerDeletion: true}", apiVersion, kind, name, uid)
	}
	for _, policy := range []string{"background", "foreground"} {
		in, out := c.Namespace+"-in-"+policy, c.Namespace+"-out-"+policy
		create(version.String(), "Topping", in, create("rbac.authorization.k8s.io/v1", "ClusterRole", in, ""))
		c.Kubectl("delete", "ClusterRole", in, "--wait=false", "--cascade="+policy)
		c.goes(toppings, in)
		c.goes(roles, in)
		create("v1", "ConfigMap", out, create(version.String(), "Topping", out, ""))
		c.Kubectl("delete", "Topping", out, "--wait=false", "--cascade="+policy)
		c.goes(configMaps, out)
		c.goes(toppings, out)
	}
}
