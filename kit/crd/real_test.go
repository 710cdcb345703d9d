//go:build bare

package crd_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// A real API server gives the responses of testdata/inputs.yaml, too.
func TestReal(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client := dynamic.NewForConfigOrDie(config)
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, in := range inputs(t) {
		definition := &unstructured.Unstructured{}
		if err := json.Unmarshal(in.definition(t), definition); err != nil {
			t.Fatal(err)
		}
		_, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{})
		t.Cleanup(func() { _ = definitions.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}) })
		if rejected := in.Rejected != "" && !in.Accepted; (err != nil) != rejected {
			t.Errorf("%s: the error is %v, want one: %t", in.Name, err, rejected)
		}
	}
	for _, in := range inputs(t) {
		if in.Rejected != "" {
			continue
		}
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
				_, err := client.Resource(in.resource()).List(ctx, metav1.ListOptions{})
				return err == nil, nil
			})
			if err != nil {
				t.Fatalf("the definition is not served: %v", err)
			}
			in.play(t, client)
		})
	}
}
