//go:build integration

package main

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// The garbage collector follows owner references into this group and out of it.
func testGarbageCollection(c *cluster) {
	configMaps := c.Resource(configMapResource).Namespace(c.Namespace)
	pizzas := c.Resource(pizzaResource).Namespace(c.Namespace)
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
		in, out := fmt.Sprintf("in-%d", i), fmt.Sprintf("out-%d", i)
		create(pizzas, newObject("Pizza", hub.String(), in, create(configMaps, newObject("ConfigMap", "v1", in, nil))))
		remove(configMaps, in, policy)
		c.goes(pizzas, in)
		c.goes(configMaps, in)
		create(configMaps, newObject("ConfigMap", "v1", out, create(pizzas, newObject("Pizza", hub.String(), out, nil))))
		remove(pizzas, out, policy)
		c.goes(configMaps, out)
		c.goes(pizzas, out)
	}
	owner := create(pizzas, newObject("Pizza", hub.String(), "orphans", nil))
	create(configMaps, newObject("ConfigMap", "v1", "orphan", owner))
	// A collector that has not seen it yet would let the owner go, and delete the orphan later.
	// It has when it has deleted what was created after it, whose owner is none.
	gone := owner.DeepCopy()
	gone.SetUID("gone")
	create(configMaps, newObject("ConfigMap", "v1", "after", gone))
	c.goes(configMaps, "after")
	remove(pizzas, "orphans", metav1.DeletePropagationOrphan)
	c.goes(pizzas, "orphans")
	if orphan, err := configMaps.Get(c.Context(), "orphan", metav1.GetOptions{}); err != nil || len(orphan.GetOwnerReferences()) > 0 {
		c.Errorf("the orphan: %v, %v", orphan, err)
	}
}

// A namespace goes with what is in it here, and takes nothing new meanwhile.
func testNamespaceDeletion(c *cluster) {
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.Kubectl("delete", "namespace", c.Namespace, "--wait=false")
	c.shows("Terminating", "get", "namespace", c.Namespace)
	if got := c.KubectlFails("create", "-f", "testdata/funghi.yaml"); !strings.Contains(got, "being terminated") {
		c.Errorf("a pizza in a namespace that goes: %s", got)
	}
	c.Eventually("the deletion of the pizza", func() error {
		pizza, err := c.Resource(pizzaResource).Namespace(c.Namespace).Get(c.Context(), "margherita", metav1.GetOptions{})
		if err == nil && pizza.GetDeletionTimestamp() == nil {
			err = fmt.Errorf("it is not being deleted")
		}
		return err
	})
	c.Kubectl("patch", "pizza", "margherita", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.goes(c.Resource(namespaceResource), c.Namespace)
}
