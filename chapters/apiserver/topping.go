package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
)

var (
	// The CustomResourceDefinitions' group has an APIService already, so this group needs a different name.
	version  = schema.GroupVersion{Group: "aggregated." + v1beta1.GroupName, Version: "v1beta1"}
	kind     = version.WithKind("Topping")
	resource = version.WithResource("toppings").GroupResource()
)

// toppings is the only resource. The API server in memory removes the fields that its schema lacks.
var toppings = testkit.Resource{
	GroupVersionKind: kind, Plural: resource.Resource, ShortNames: []string{"tp"}, ClusterScoped: true, Generation: true,
	Schema: must(crd.NewSchema(&apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"spec"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Required: []string{"cost"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"cost": {Type: "integer", Format: "int32", Minimum: new(float64)},
		}},
	}})),
	Admit: admit,
}

func must(schema *crd.Schema, err error) *crd.Schema {
	utilruntime.Must(err)
	return schema
}

// budget is the most that all toppings may cost together.
const budget = 10_000

// admit returns an error unless a topping fits into the budget. No other write happens meanwhile, so two
// toppings cannot exceed it together.
func admit(topping *unstructured.Unstructured, others []*unstructured.Unstructured) error {
	sum := cost(topping)
	for _, other := range others {
		sum += cost(other)
	}
	if sum > budget {
		return apierrors.NewForbidden(resource, topping.GetName(), fmt.Errorf("all toppings together may cost %d, and would cost %d", budget, sum))
	}
	return nil
}

func cost(topping *unstructured.Unstructured) int64 {
	cost, _, _ := unstructured.NestedInt64(topping.Object, "spec", "cost")
	return cost
}
