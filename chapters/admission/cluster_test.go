//go:build integration

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/chapters/restaurant/v1alpha1"
)

func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m)) }

// cluster is an API server with a namespace, the only one whose pizzas the program reviews.
// All tests share the registration's name, so they do not run in parallel.
type cluster struct {
	*chaptertest.Cluster
	rest rest.Interface
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Cluster: chaptertest.New(t)}
	var err error
	if c.rest, err = newClient(c.Config); err != nil {
		t.Fatal(err)
	}
	c.Kubectl("apply", "-f", "config/samples")
	return c.in(t)
}

// in returns the cluster for a subtest. No registration exists before and after the subtest.
func (c *cluster) in(t *testing.T) *cluster {
	of := *c.Cluster
	of.T = t
	t.Cleanup(func() {
		of.Kubectl("delete", "--ignore-not-found", "mutatingwebhookconfiguration/byhand-admission", "validatingwebhookconfiguration/byhand-admission")
	})
	return &cluster{&of, c.rest}
}

// start starts the program and waits until the API server calls it.
func (c *cluster) start(kubeconfig string) *chaptertest.Program {
	c.Helper()
	p := c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)
	p.Prints(1, "ready: ")
	c.Eventually("the API server calls the webhook", c.refusesAnchovy)
	return p
}

// refusesAnchovy returns nil if the webhook rejects a pizza with a topping that does not exist.
func (c *cluster) refusesAnchovy() error {
	_, err := c.order("anchovy")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `denied the request: there is no topping "anchovy"`) {
		return fmt.Errorf("a pizza with anchovy: %v, want a rejection by the webhook", err)
	}
	return nil
}

// order creates a pizza as a dry run: the API server calls the webhooks and stores nothing.
func (c *cluster) order(toppings ...string) (*v1alpha1.Pizza, error) {
	pizza := &v1alpha1.Pizza{ObjectMeta: metav1.ObjectMeta{GenerateName: "pizza-"}, Spec: v1alpha1.PizzaSpec{Toppings: toppings}}
	created := &v1alpha1.Pizza{}
	err := c.rest.Post().Namespace(c.Namespace).Resource("pizzas").Param("dryRun", "All").Body(pizza).Do(c.Context()).Into(created)
	return created, err
}

func (c *cluster) registered() bool {
	c.Helper()
	client := c.Kube.AdmissionregistrationV1()
	_, mutating := client.MutatingWebhookConfigurations().Get(c.Context(), "byhand-admission", metav1.GetOptions{})
	_, validating := client.ValidatingWebhookConfigurations().Get(c.Context(), "byhand-admission", metav1.GetOptions{})
	return !apierrors.IsNotFound(mutating) || !apierrors.IsNotFound(validating)
}
