//go:build integration

package main

import (
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The program takes its registration away before it stops answering: somebody who orders all
// the time sees no error.
func TestEnds(t *testing.T) {
	c := newCluster(t)
	p := c.start(c.Kubeconfig)
	ended := make(chan struct{})
	var ordering sync.WaitGroup
	for range 4 {
		ordering.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if _, err := c.order("tomato"); err != nil {
					t.Errorf("at the end of the program: %v", err)
					return
				}
			}
		})
	}
	p.Signal(syscall.SIGTERM)
	code := p.Exit()
	close(ended)
	ordering.Wait()
	if code != 0 || !strings.Contains(p.Output(), "stopped") {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	if c.registered() {
		t.Error("the registration is still there")
	}
	if _, err := c.order("anchovy"); err != nil {
		t.Errorf("nobody is asked any more, and still: %v", err)
	}
}

// A program that was killed leaves an API server that asks nobody. Everything that changes a
// pizza is refused, until the registration is taken away, or the program is back.
func TestKilled(t *testing.T) {
	c := newCluster(t)
	c.start(c.Kubeconfig).Kill()
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s: %v, want connection refused", what, err)
		}
	}
	_, err := c.order("tomato")
	refused("a pizza", err)

	back := c.start(c.Kubeconfig)
	pizza, err := c.post("", "tomato")
	if err != nil {
		t.Fatal(err)
	}
	patch := func(patch string) error {
		return c.rest.Patch(types.MergePatchType).Namespace(c.Namespace).Resource("pizzas").Name(pizza.Name).Body([]byte(patch)).Do(t.Context()).Error()
	}
	if err := patch(`{"metadata":{"finalizers":["example.com/eaten"]}}`); err != nil {
		t.Fatal(err)
	}
	back.Kill()
	if err := c.rest.Delete().Namespace(c.Namespace).Resource("pizzas").Name(pizza.Name).Do(t.Context()).Error(); err != nil {
		t.Errorf("a deletion asks no webhook, and still: %v", err)
	}
	refused("the end of a pizza that is being deleted", patch(`{"metadata":{"finalizers":null}}`))

	c.Shell("cd ../.. && sh chapters/admission/down.sh")
	c.Eventually("the pizza goes", func() error { return patch(`{"metadata":{"finalizers":null}}`) })
}

// What has a topping that is gone can still be changed and deleted.
func TestToppingGoes(t *testing.T) {
	c := newCluster(t)
	c.start(c.Kubeconfig)
	topping := "topping-" + c.Namespace
	c.Apply("apiVersion: restaurant.programming-kubernetes.info/v1alpha1\nkind: Topping\nmetadata: {name: " + topping + "}\nspec: {cost: 1}\n")
	t.Cleanup(func() { c.Kubectl("delete", "--ignore-not-found", "topping", topping) })
	// The cache may not have it yet.
	pizza, err := c.post("", topping)
	if err != nil {
		t.Fatal(err)
	}
	c.Kubectl("delete", "topping", topping)
	c.Eventually("it is refused", func() error {
		if _, err := c.order(topping); err == nil {
			return errors.New("it is allowed")
		}
		return nil
	})
	c.Kubectl("label", "pizza", pizza.Name, "old=true")
	if output := c.KubectlFails("patch", "pizza", pizza.Name, "--type=merge", "-p", `{"spec":{"toppings":["`+topping+`","anchovy"]}}`); !strings.Contains(output, `no topping "anchovy"`) {
		t.Errorf("one that does not exist beside one that is gone: %s", output)
	}
	c.Kubectl("delete", "pizza", pizza.Name)
}

// The rights in config/rbac are enough, and needed.
func TestRights(t *testing.T) {
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	account := "system:serviceaccount:" + c.Namespace + ":default"
	asAccount := c.With(func(_ *clientcmdapi.Context, user *clientcmdapi.AuthInfo) { user.Impersonate = account })
	without := chaptertest.Start(t, "--kubeconfig", asAccount, "--namespace", c.Namespace)
	without.Prints(1, "forbidden")
	without.Kill()

	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "byhand-admission"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: c.Namespace, Name: "default"}},
	}
	if _, err := c.Kube.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Kubectl("delete", "clusterrolebinding/"+c.Namespace, "clusterrole/byhand-admission") })
	p := c.start(asAccount)
	if err := c.givesToppings(); err != nil {
		t.Error(err)
	}
	p.Stop()
	if strings.Contains(strings.ToLower(p.Output()), "forbidden") {
		t.Error("a right is missing")
	}
}

// A mistake in the command line gets one line that says what to do, and exit code 1.
func TestMistakes(t *testing.T) {
	chaptertest.Mistakes(t, map[string][]string{
		"flag provided but not defined":    {"--no-such-flag"},
		"usage: no arguments":              {"now"},
		"cannot read the kubeconfig":       {"--kubeconfig", "/nowhere"},
		"cannot listen on \"0.0.0.0:443\"": {"--kubeconfig", newCluster(t).Kubeconfig, "--listen", "0.0.0.0:443"},
	})
}
