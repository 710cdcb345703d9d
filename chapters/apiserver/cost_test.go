//go:build integration && bare

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// TestCost times the same requests for Toppings of a CustomResourceDefinition and for those of
// this program, by turns, each kind in the version that is stored. It prints the means in the Go
// benchmark format, and fails on no time.
func TestCost(t *testing.T) {
	c := newCluster(t)
	const crds = "../restaurant/config/crd/toppings.restaurant.programming-kubernetes.info.yaml"
	c.Shell("kubectl apply -f " + crds + " && kubectl wait --for=condition=Established --timeout=30s -f " + crds)
	t.Cleanup(func() { c.Shell("kubectl delete -f " + crds) })
	both := []schema.GroupVersion{v1alpha1.SchemeGroupVersion, version}
	for _, request := range []struct {
		do   string
		n    int
		send func(version schema.GroupVersion, name string) error
	}{
		{"create", 300, func(version schema.GroupVersion, name string) error {
			topping := newTopping(name, 1)
			topping.SetGroupVersionKind(version.WithKind("Topping"))
			_, err := c.Resource(version.WithResource("toppings")).Create(context.Background(), topping, metav1.CreateOptions{})
			return err
		}},
		{"get", 300, func(version schema.GroupVersion, name string) error {
			_, err := c.Resource(version.WithResource("toppings")).Get(context.Background(), name, metav1.GetOptions{})
			return err
		}},
		{"list", 50, func(version schema.GroupVersion, _ string) error {
			list, err := c.Resource(version.WithResource("toppings")).List(context.Background(), metav1.ListOptions{})
			if err == nil && len(list.Items) != 300 {
				err = fmt.Errorf("%d of 300 Toppings", len(list.Items))
			}
			return err
		}},
	} {
		took := make([]time.Duration, len(both))
		for i := range request.n {
			for j, version := range both {
				begin := time.Now()
				if err := request.send(version, fmt.Sprintf("topping-%03d", i)); err != nil {
					t.Fatalf("%s %s: %v", request.do, version, err)
				}
				took[j] += time.Since(begin)
			}
		}
		each := func(i int) float64 { return took[i].Seconds() / float64(request.n) }
		fmt.Printf("BenchmarkAPIServer/do=%s/by=CRD %d %g sec/op\n", request.do, request.n, each(0))
		fmt.Printf("BenchmarkAPIServer/do=%s/by=aggregated %d %g sec/op %g sec/op/base\n", request.do, request.n, each(1), each(1)/each(0))
	}
}
