//go:build integration

package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// The garbage collector follows owner references into this group and out of it. A Topping is in no
// namespace, so what owns it is in none.
func TestGarbageCollection(t *testing.T) {
	c := newCluster(t)
	configMaps, roles := c.Resource(configMapResource).Namespace(c.Namespace), c.Resource(clusterRoleResource)
	toppings := c.Resource(toppingResource)
	newObject := func(kind, apiVersion, name string, owner *unstructured.Unstructured) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName(name)
		if owner != nil {
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: new(true)}})
		}
		return o
	}
	create := func(resource dynamic.ResourceInterface, o *unstructured.Unstructured) *unstructured.Unstructured {
		c.Helper()
		created, err := resource.Create(c.Context(), o, metav1.CreateOptions{})
		if err != nil {
			c.Fatal(err)
		}
		return created
	}
	remove := func(resource dynamic.ResourceInterface, name string, policy metav1.DeletionPropagation) {
		c.Helper()
		if err := resource.Delete(c.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			c.Fatal(err)
		}
	}
	for i, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		in, out := fmt.Sprintf("%s-in-%d", c.Namespace, i), fmt.Sprintf("%s-out-%d", c.Namespace, i)
		create(toppings, newObject("Topping", version.String(), in, create(roles, newObject("ClusterRole", "rbac.authorization.k8s.io/v1", in, nil))))
		remove(roles, in, policy)
		c.goes(toppings, in)
		c.goes(roles, in)
		create(configMaps, newObject("ConfigMap", "v1", out, create(toppings, newObject("Topping", version.String(), out, nil))))
		remove(toppings, out, policy)
		c.goes(configMaps, out)
		c.goes(toppings, out)
	}
	name := c.Namespace + "-orphans"
	owner := create(toppings, newObject("Topping", version.String(), name, nil))
	create(configMaps, newObject("ConfigMap", "v1", "orphan", owner))
	// A collector that has not seen it yet would let the owner go, and delete the orphan later.
	// It has when it has deleted what was created after it, whose owner is none.
	gone := owner.DeepCopy()
	gone.SetUID("gone")
	create(configMaps, newObject("ConfigMap", "v1", "after", gone))
	c.goes(configMaps, "after")
	remove(toppings, name, metav1.DeletePropagationOrphan)
	c.goes(toppings, name)
	if orphan, err := configMaps.Get(c.Context(), "orphan", metav1.GetOptions{}); err != nil || len(orphan.GetOwnerReferences()) > 0 {
		c.Errorf("the orphan: %v, %v", orphan, err)
	}
}
