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
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/chapters/internal/chaptertest"
)

// The program takes its registration away before it stops answering: a client that orders all
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
		t.Errorf("nothing is asked any more, and still: %v", err)
	}
}

// Whatever others make of the registration, it is as it was after webhook.Period: what they add, and
// an object without the annotation that says whose it is. At its end the program removes it.
func TestRestores(t *testing.T) {
	c := newCluster(t)
	p := c.start(c.Kubeconfig)
	const object = "validatingwebhookconfiguration/byhand-admission"
	for _, patch := range []string{
		`[{"op":"replace","path":"/webhooks/0/objectSelector","value":{"matchLabels":{"nobody":"has"}}}]`,
		`[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"never","expression":"false"}]}]`,
		`[{"op":"remove","path":"/metadata/annotations"},{"op":"remove","path":"/webhooks"}]`,
	} {
		c.Kubectl("patch", object, "--type=json", "-p", patch)
		c.Eventually("after "+patch, func() error {
			webhooks := c.Kubectl("get", object, "-o", "jsonpath={.webhooks}")
			if webhooks == "" || strings.Contains(webhooks, "nobody") || strings.Contains(webhooks, "never") {
				return errors.New(webhooks)
			}
			return c.refusesAnchovy()
		})
	}
	p.Stop()
	if c.registered() {
		t.Error("the registration is still there")
	}
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
	c.Kubectl("delete", "validatingwebhookconfiguration/byhand-admission")
	c.Eventually("it is registered again", c.refusesAnchovy)
	if err := c.givesToppings(); err != nil {
		t.Error(err)
	}
	p.Stop()
	if strings.Contains(strings.ToLower(p.Output()), "forbidden") {
		t.Error("a right is missing")
	}
}
