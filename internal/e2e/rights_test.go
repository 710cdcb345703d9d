//go:build integration

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// account is a user of the test's own, whose rights in the test's namespace come
// and go.
type account struct {
	*server
	kubeconfig string
}

// The rights of the controller, in parts.
const (
	allElse  = "all-else"
	writing  = "writing"
	deleting = "deleting"
)

func newAccount(s *server) *account {
	s.Helper()
	// As the administrator, who may speak for the user that the kubeconfig names.
	a := &account{server: s}
	a.kubeconfig = kubeconfig(s.T, clientcmdapi.Cluster{Server: s.proxied().URL}, clientcmdapi.AuthInfo{Impersonate: a.user()})
	for name, rules := range roleInParts(s.T) {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if _, err := s.kube.RbacV1().Roles(s.namespace).Create(s.Context(), role, metav1.CreateOptions{}); err != nil {
			s.Fatal(err)
		}
	}
	return a
}

// roleInParts returns the rules of config/rbac/role.yaml: to create and update
// Deployments, to delete them, and all else.
func roleInParts(t *testing.T) map[string][]rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile("../../config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		t.Fatal(err)
	}
	parts := map[string][]rbacv1.PolicyRule{}
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			part := allElse
			switch ofDeployments := slices.Contains(rule.Resources, "deployments"); {
			case ofDeployments && (verb == "create" || verb == "update"):
				part = writing
			case ofDeployments && verb == "delete":
				part = deleting
			}
			rule.Verbs = []string{verb}
			parts[part] = append(parts[part], rule)
		}
	}
	return parts
}

func (a *account) user() string { return "rights:" + a.namespace }

// gets gives the user parts of its rights.
func (a *account) gets(parts ...string) {
	a.Helper()
	for _, part := range parts {
		a.get(part)
	}
}

func (a *account) get(part string) {
	a.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: part},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: a.user()}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: part},
	}
	if _, err := a.kube.RbacV1().RoleBindings(a.namespace).Create(a.Context(), binding, metav1.CreateOptions{}); err != nil {
		a.Fatal(err)
	}
	a.may(part, true)
}

// loses takes parts of the user's rights away.
func (a *account) loses(parts ...string) {
	a.Helper()
	for _, part := range parts {
		if err := a.kube.RbacV1().RoleBindings(a.namespace).Delete(a.Context(), part, metav1.DeleteOptions{}); err != nil {
			a.Fatal(err)
		}
		a.may(part, false)
	}
}

// may waits until the API server has heard of it.
func (a *account) may(part string, want bool) {
	a.Helper()
	verb := map[string]string{allElse: "watch", writing: "create", deleting: "delete"}[part]
	a.eventually(fmt.Sprintf("the right to %s Deployments is %t", verb, want), func() error {
		review, err := a.kube.AuthorizationV1().SubjectAccessReviews().Create(a.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: a.user(), ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: a.namespace, Verb: verb, Group: "apps", Resource: "deployments"}},
		}, metav1.CreateOptions{})
		if err == nil && review.Status.Allowed != want {
			err = fmt.Errorf("it is %t", review.Status.Allowed)
		}
		return err
	})
}

// Without the right to write Deployments, each Foo that needs a write says so, with
// one warning for each request, and tries again until it may. With the right to create and update
// alone, one that is renamed gets its new Deployment, and says why it cannot let go of
// the old one.
func TestWritingTakenAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := newAccount(s)
	a.gets(allElse, writing, deleting)
	user := rest.CopyConfig(s.config)
	user.Impersonate.UserName = a.user()
	s.ownersAreKnown(user)
	c := s.controller("--kubeconfig", a.kubeconfig, "--resync", "0")
	for _, name := range []string{"scaled", "renamed", "drifts", "same"} {
		s.createFoo(name, spec(name, 1))
		s.converges(name, name, 1)
	}

	a.loses(writing, deleting)
	s.createFoo("created", spec("created", 1))
	s.changeFoo("scaled", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 2 })
	s.changeFoo("renamed", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "new-name" })
	s.patchDeployment("drifts", `{"spec":{"replicas":3}}`)
	for name, verb := range map[string]string{"created": "create", "scaled": "update", "renamed": "create", "drifts": "update"} {
		s.says(name, v1alpha1.ReasonForbidden, fmt.Sprintf("cannot %s resource", verb))
	}
	for _, name := range []string{"created", "scaled", "renamed", "drifts"} {
		s.triedAgain(c, name)
	}
	s.converges("same", "same", 1)

	a.gets(writing)
	s.converges("created", "created", 1)
	s.converges("scaled", "scaled", 2)
	s.converges("drifts", "drifts", 1)
	s.says("renamed", v1alpha1.ReasonForbidden, "cannot delete resource")
	s.changeFoo("same", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "same-no-more" })
	s.says("same", v1alpha1.ReasonForbidden, "cannot delete resource")
	s.eventually("the new Deployment comes all the same", func() error { _, err := s.deployment("same-no-more"); return err })

	a.gets(deleting)
	s.converges("renamed", "new-name", 1)
	s.converges("same", "same-no-more", 1)
	s.goes("renamed")
	s.goes("same")
	s.eventually("all is done", s.atRest)
	c.Stop()
	warned, err := s.warnings()
	if diff := cmp.Diff(map[string]int{"created": 1, "scaled": 1, "renamed": 2, "drifts": 1, "same": 1}, warned); err != nil || diff != "" {
		t.Errorf("warnings (%v) (-want +got):\n%s", err, diff)
	}
	s.settles("created", "scaled", "renamed", "drifts", "same")
}

// triedAgain waits until what is forbidden to a Foo has been tried several times.
func (s *server) triedAgain(p *program, name string) {
	s.Helper()
	s.eventually("Foo "+name+" is tried again", func() error {
		if tries := strings.Count(p.Output(), "403 Forbidden  (for Foo "+s.namespace+"/"+name+")"); tries < 8 {
			return fmt.Errorf("tried %d times", tries)
		}
		return nil
	})
}
