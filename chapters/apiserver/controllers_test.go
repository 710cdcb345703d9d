//go:build integration

package main

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The garbage collector follows owner references into this group and out of it. A Topping is in no
// namespace, so what owns it is in none.
func TestGarbageCollection(t *testing.T) {
	c := newCluster(t)
	configMaps, roles := c.Resource(configMapResource).Namespace(c.Namespace), c.Resource(clusterRoleResource)
	toppings := c.Resource(toppingResource)
	// create creates an object with an owner or "", and returns the reference to it.
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
	name := c.Namespace + "-orphans"
	owner := create(version.String(), "Topping", name, "")
	create("v1", "ConfigMap", "orphan", owner)
	// A collector that has not seen it yet would let the owner go, and delete the orphan later.
	// It has when it has deleted what was created after it, whose owner is none.
	c.Apply(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: after, ownerReferences: [%s]}}", strings.Replace(owner, "uid: ", "uid: gone-", 1)))
	c.goes(configMaps, "after")
	c.Kubectl("delete", "Topping", name, "--wait=false", "--cascade=orphan")
	c.goes(toppings, name)
	if orphan, err := configMaps.Get(c.Context(), "orphan", metav1.GetOptions{}); err != nil || len(orphan.GetOwnerReferences()) > 0 {
		c.Errorf("the orphan: %v, %v", orphan, err)
	}
}
