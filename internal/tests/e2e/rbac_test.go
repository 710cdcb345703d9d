//go:build integration

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/kit/check"
	"example.com/byhand/kit/testkit"
)

// account returns a configuration with only the credentials of the controller's ServiceAccount, like
// its Pod's.
func (s *server) account() *rest.Config {
	s.Helper()
	token, err := s.kube.CoreV1().ServiceAccounts(deployed).CreateToken(s.Context(), ownAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	config := rest.AnonymousClientConfig(s.config)
	config.BearerToken, config.QPS = token.Status.Token, -1
	return config
}

// lifeOfAFoo causes all actions of a controller for one Foo.
func (s *server) lifeOfAFoo() {
	s.Helper()
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	s.kubectl("delete", "--namespace", s.namespace, "deployment/deployment")
	s.converges("foo", "deployment", 1)

	// A new spec: a fourth identical write for one spec would start a back-off.
	s.changeFoo("foo", `{"spec":{"replicas":3}}`)
	s.converges("foo", "deployment", 3)
	s.kubectl("scale", "--namespace", s.namespace, "deployment/deployment", "--replicas=5")
	s.converges("foo", "deployment", 3)
	s.changeFoo("foo", `{"spec":{"deploymentName":"renamed"}}`)
	s.converges("foo", "renamed", 3)
	s.waitFor("delete", "deployment/deployment")

	s.kubectl("delete", "--namespace", s.namespace, "foo/foo")
	s.waitFor("delete", "deployment/renamed")
}

// lateForAName lets another client take a Deployment's name just before the controller creates
// a Foo's Deployment.
func (s *server) lateForAName(proxy *testkit.Proxy) {
	s.Helper()
	proxy.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/deployments") {
			proxy.Intercept(nil)
			if _, err := s.kube.AppsV1().Deployments(s.namespace).Create(s.Context(), foreignDeployment("theirs"), metav1.CreateOptions{}); err != nil {
				s.Error(err)
			}
		}
		return false
	})
	s.createFoo("late", spec("theirs", 1))
	s.waitFor(`jsonpath={.status.conditions[?(@.type=="Ready")].reason}=`+v1alpha1.ReasonNameTaken, "foo/late")
	s.kubectl("delete", "--namespace", s.namespace, "deployment/theirs")
	s.converges("late", "theirs", 1)
}

// The controller's account has the permissions that the controller uses, and no other.
func TestRights(t *testing.T) {
	newServer(t).deploy()
	t.Run("each permission is used", testRightsAreUsed)
	t.Run("only one Lease", testOneLease)
	t.Run("editors and viewers", testPeople)
}

// Two replicas, started as in the manifests, handle all situations. Together they use exactly the permissions
// of config/rbac.
func testRightsAreUsed(t *testing.T) {
	s := newServer(t)
	proxy, kubeconfig := s.proxied(s.account())
	args := append(s.containerArgs(), "--kubeconfig", kubeconfig, "--leader-elect-resource-namespace", deployed)
	leader := start(t, nil, args...)
	leader.WaitFor("workers start")
	// Like a server that does not stream lists.
	standby := start(t, []string{"KUBE_FEATURE_WatchListClient=false"}, args...)
	standby.WaitFor("standing by")

	s.createProject("project", 1)
	leader.WaitFor("Project " + s.namespace + "/project")
	s.lifeOfAFoo()
	s.lateForAName(proxy)
	leader.Stop()
	standby.WaitFor("Project " + s.namespace + "/project")
	standby.WaitFor("workers start")
	s.createFoo("handover", spec("handover", 1))
	s.converges("handover", "handover", 1)
	standby.Stop()

	var ofTheLease, others []testkit.Request
	for _, r := range proxy.Log() {
		if r.Target.Resource == "leases" {
			ofTheLease = append(ofTheLease, r)
		} else {
			others = append(others, r)
		}
	}
	// Without permission for foos/finalizers the account could not set owner references: see ownersAreKnown.
	check.Role(t, root+"/config/rbac/role.yaml", others, "update foos/finalizers")
	check.Role(t, root+"/config/rbac/leader_election_role.yaml", ofTheLease)
}

// Two of the permissions are limited to a name: the program's Lease.
func testOneLease(t *testing.T) {
	s := newServer(t)
	leases := kubernetes.NewForConfigOrDie(s.account()).CoordinationV1().Leases(deployed)
	_, getErr := leases.Get(t.Context(), "another", metav1.GetOptions{})
	_, updateErr := leases.Update(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, metav1.UpdateOptions{})
	if !apierrors.IsForbidden(getErr) || !apierrors.IsForbidden(updateErr) {
		t.Errorf("get another Lease: error %v, update it: error %v, want Forbidden", getErr, updateErr)
	}
}

// Users who may edit or view a namespace may do the same with Foos and Projects, but not write a
// status.
func testPeople(t *testing.T) {
	s := newServer(t)
	for _, role := range []string{"edit", "view"} {
		s.kubectl("create", "rolebinding", role, "--namespace", s.namespace, "--clusterrole="+role, "--user="+role)
	}
	const foos, projects = v1alpha1.GroupName, examplesv1alpha1.GroupName
	// Missing permissions come last: the cluster's aggregated roles include new rules after a moment.
	for _, test := range []struct {
		who, verb, group, resource, subresource string
		may                                     bool
	}{
		{"edit", "create", foos, "foos", "", true},
		{"edit", "delete", foos, "foos", "", true},
		{"edit", "update", foos, "foos", "scale", true},
		{"edit", "create", projects, "projects", "", true},
		{"view", "get", foos, "foos", "", true},
		{"view", "get", foos, "foos", "scale", true},
		{"view", "get", foos, "foos", "status", true},
		{"view", "list", projects, "projects", "", true},
		{"edit", "update", foos, "foos", "status", false},
		{"view", "update", foos, "foos", "", false},
		{"view", "update", foos, "foos", "scale", false},
		{"view", "create", projects, "projects", "", false},
	} {
		review := &authorizationv1.LocalSubjectAccessReview{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace}}
		review.Spec.User, review.Spec.ResourceAttributes = test.who, &authorizationv1.ResourceAttributes{
			Namespace: s.namespace, Verb: test.verb, Group: test.group, Resource: test.resource, Subresource: test.subresource}
		s.eventually(fmt.Sprintf("%+v", test), func() error {
			answer, err := s.kube.AuthorizationV1().LocalSubjectAccessReviews(s.namespace).Create(t.Context(), review, metav1.CreateOptions{})
			if err == nil && answer.Status.Allowed != test.may {
				err = errors.New("want the opposite")
			}
			return err
		})
	}
}
