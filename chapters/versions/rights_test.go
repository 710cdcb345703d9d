//go:build integration

package main

import (
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// The rights in config/rbac are enough for everything that the program does.
func TestRights(t *testing.T) {
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac")
	account := metav1.ObjectMeta{Name: "versions", Namespace: c.Namespace}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "byhand-versions"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}},
	}
	t.Cleanup(func() { c.Kubectl("delete", "clusterrolebinding/"+c.Namespace, "clusterrole/byhand-versions") })
	_, err := c.Kube.CoreV1().ServiceAccounts(c.Namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: account}, metav1.CreateOptions{})
	if err == nil {
		_, err = c.Kube.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	token, err := c.Kube.CoreV1().ServiceAccounts(c.Namespace).CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	user := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	user.ClientCertificate, user.ClientCertificateData, user.ClientKey, user.ClientKeyData = "", nil, "", nil
	user.Token = token.Status.Token
	asAccount := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, asAccount); err != nil {
		t.Fatal(err)
	}

	// To install, to migrate there and back, to take away.
	p := c.Start("--kubeconfig", asAccount)
	p.Prints(1, "ready: ")
	c.Kubectl("apply", "-f", "config/pizzas")
	for _, version := range []string{"v1beta1", "v1alpha1"} {
		c.store(version)
		migration := c.Start("--kubeconfig", asAccount, "migrate")
		if code := migration.Exit(); code != 0 {
			t.Errorf("migrate to %s: exit code %d", version, code)
		}
		if err := c.storedAs(c.Namespace+"/double", version); err != nil {
			t.Error(err)
		}
	}
	c.stop(p)
	p.Prints(1, "taken away: ")
}
