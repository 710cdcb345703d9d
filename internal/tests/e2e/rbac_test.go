//go:build integration

package e2e

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/kit/testkit"
)

// right is what RBAC grants and a request needs.
type right struct {
	verb, group, resource string
	// namespace is "" for a right in all namespaces.
	namespace string
}

func (r right) String() string {
	text := r.verb + " " + schema.GroupResource{Group: r.group, Resource: r.resource}.String()
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// in is the same right in one namespace.
func (r right) in(namespace string) right {
	r.namespace = namespace
	return r
}

// rightFor returns the right that a request needs.
func rightFor(r testkit.Request) right {
	return right{r.Verb(), r.Target.Group, path.Join(r.Target.Resource, r.Target.Subresource), r.Target.Namespace}
}

// account returns a configuration with which one acts as the controller's ServiceAccount alone,
// as its Pod does.
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

// granted returns the rights that config/rbac gives to the controller's account, as
// they stand on the server. What every account may do is not among them.
func (s *server) granted() map[right]bool {
	s.Helper()
	us := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: ownAccount, Namespace: deployed}
	all := map[right]bool{}
	for _, binding := range s.bindings() {
		if !slices.Contains(binding.Subjects, us) {
			continue
		}
		for _, rule := range s.rules(binding) {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all[right{verb, group, resource, binding.Namespace}] = true
					}
				}
			}
		}
	}
	return all
}

// bindings returns those of all namespaces and, in no namespace, those of the
// cluster.
func (s *server) bindings() []rbacv1.RoleBinding {
	s.Helper()
	all, err := s.kube.RbacV1().RoleBindings(metav1.NamespaceAll).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	ofCluster, err := s.kube.RbacV1().ClusterRoleBindings().List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for _, binding := range ofCluster.Items {
		all.Items = append(all.Items, rbacv1.RoleBinding{Subjects: binding.Subjects, RoleRef: binding.RoleRef})
	}
	return all.Items
}

// rules returns what a binding binds.
func (s *server) rules(binding rbacv1.RoleBinding) []rbacv1.PolicyRule {
	s.Helper()
	if binding.RoleRef.Kind == "ClusterRole" {
		role, err := s.kube.RbacV1().ClusterRoles().Get(s.Context(), binding.RoleRef.Name, metav1.GetOptions{})
		if err != nil {
			s.Fatal(err)
		}
		return role.Rules
	}
	role, err := s.kube.RbacV1().Roles(binding.Namespace).Get(s.Context(), binding.RoleRef.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return role.Rules
}

// event waits until there are so many Events of a Foo with this note.
func (s *server) event(foo, message string, times int) {
	s.Helper()
	s.eventually(fmt.Sprintf("event %q of Foo %s, %d times", message, foo, times), func() error {
		times := times
		events, err := s.kube.EventsV1().Events(s.namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "regarding.name=" + foo})
		if err != nil {
			return err
		}
		var all []string
		for _, event := range events.Items {
			if event.Note == message {
				times--
			}
			all = append(all, event.Note)
		}
		if times <= 0 {
			return nil
		}
		return fmt.Errorf("there are %q", all)
	})
}

// lifeOfAFoo goes through what a controller does for a Foo that is alone.
func (s *server) lifeOfAFoo() {
	s.Helper()
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 3 })
	s.converges("foo", "deployment", 3)

	for times := range 2 {
		s.kubectl("scale", "--namespace", s.namespace, "deployment/deployment", "--replicas=5")
		s.event("foo", "Scaled Deployment deployment from 5 to 3", times+1)
		s.converges("foo", "deployment", 3)
	}

	// Deleted by a person, then renamed.
	s.kubectl("delete", "--namespace", s.namespace, "deployment/deployment")
	s.event("foo", "Created Deployment deployment", 2)
	s.converges("foo", "deployment", 3)
	s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "renamed" })
	s.converges("foo", "renamed", 3)
	s.waitFor("delete", "deployment/deployment")

	s.kubectl("delete", "--namespace", s.namespace, "foo/foo")
	s.waitFor("delete", "deployment/renamed")
}

// lateForAName lets another client take a Deployment's name in the moment before a Foo
// does.
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

// The controller's account has the rights that the controller uses, and no other.
func TestRights(t *testing.T) {
	newServer(t).deploy()
	t.Run("each that is granted is used", testRightsAreUsed)
	t.Run("one Lease alone", testOneLease)
	t.Run("editors and viewers", testPeople)
}

// Two replicas, as the manifests start them, live through everything; what they
// send is what config/rbac grants.
func testRightsAreUsed(t *testing.T) {
	s := newServer(t)
	proxy, kubeconfig := s.proxied(s.account())
	args := append(s.containerArgs(), "--kubeconfig", kubeconfig, "--leader-elect-resource-namespace", deployed)
	leader := start(t, nil, args...)
	leader.WaitFor("workers start")
	// As against a server that does not stream lists.
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

	s.grantedIsUsed(proxy)
}

// grantedIsUsed compares what the proxy has seen with what config/rbac grants.
func (s *server) grantedIsUsed(proxy *testkit.Proxy) {
	s.Helper()
	granted := s.granted()
	// No program sends a request there. Without it the account could not own for a Foo: see ownersAreKnown.
	used := map[right]bool{{"update", v1alpha1.GroupName, "foos/finalizers", ""}: true}
	needed, acted := map[right]bool{}, map[schema.GroupResource]bool{}
	for _, r := range proxy.Log() {
		if r.Target.Resource == "" {
			continue // the server's version, or the list of its APIs
		}
		needs := rightFor(r)
		needed[needs] = true
		// Where it does more than list and watch, it has been given all that it can do.
		if needs.verb != "list" && needs.verb != "watch" {
			acted[needs.object()] = true
		}
	}
	for needs := range needed {
		switch {
		case granted[needs]:
			used[needs] = true
		case granted[needs.in("")]:
			used[needs.in("")] = true
		default:
			s.Errorf("the controller needs the right to %s, and config/rbac does not grant it", needs)
		}
	}
	for right := range granted {
		switch {
		case used[right]:
		case acted[right.object()]:
			s.Errorf("config/rbac grants the right to %s, and nothing needs it: take it away", right)
		default:
			s.Errorf("config/rbac grants the right to %s, and this test sends nothing that needs it: it gives the controller nothing to do with %s. Let testRightsAreUsed do so, or take the right away", right, right.object())
		}
	}
	s.Logf("%d rights are granted, %d are used", len(granted), len(used))
}

// object is what a right is about, without the subresource.
func (r right) object() schema.GroupResource {
	resource, _, _ := strings.Cut(r.resource, "/")
	return schema.GroupResource{Group: r.group, Resource: resource}
}

// Two of the rights are limited to a name: that of the program's own Lease.
func testOneLease(t *testing.T) {
	s := newServer(t)
	leases := kubernetes.NewForConfigOrDie(s.account()).CoordinationV1().Leases(deployed)
	_, err := leases.Get(t.Context(), "another", metav1.GetOptions{})
	forbidden(t, "get another Lease", err)
	_, err = leases.Update(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "another"}}, metav1.UpdateOptions{})
	forbidden(t, "update another Lease", err)
}

func forbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: error %v, want Forbidden", what, err)
	}
}

// person returns the clients of a person who has one of the cluster's own roles in the
// test's namespace.
func (s *server) person(role string) (clientset.Interface, scale.ScaleInterface) {
	s.Helper()
	name := "person-with-" + role
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}}
	if _, err := s.kube.RbacV1().RoleBindings(s.namespace).Create(s.Context(), binding, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = name
	return clientset.NewForConfigOrDie(config), scales(s.T, config, s.namespace)
}

// Who may edit or view a namespace may do so with Foos and Projects, but not
// write a status.
func testPeople(t *testing.T) {
	s := newServer(t)
	ctx, resource := t.Context(), v1alpha1.Resource("foos")
	editor, editorsScales := s.person("edit")
	viewer, viewersScales := s.person("view")
	editors, viewers := editor.SamplecontrollerV1alpha1().Foos(s.namespace), viewer.SamplecontrollerV1alpha1().Foos(s.namespace)
	foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: spec("deployment", 1)}
	project := newProject("project", 1)
	// The cluster's own roles take up new rules after a moment.
	s.eventually("an editor creates a Foo", func() error { _, err := editors.Create(ctx, foo, metav1.CreateOptions{}); return err })
	s.eventually("a viewer reads it", func() (err error) { foo, err = viewers.Get(ctx, "foo", metav1.GetOptions{}); return err })

	scale, err := viewersScales.Get(ctx, resource, "foo", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("a viewer reads a scale: %v", err)
	}
	scale.Spec.Replicas = 2
	if _, err := editorsScales.Update(ctx, resource, scale, metav1.UpdateOptions{}); err != nil {
		t.Errorf("an editor scales a Foo: %v", err)
	}
	if _, err := editor.ExamplesV1alpha1().Projects(s.namespace).Create(ctx, project, metav1.CreateOptions{}); err != nil {
		t.Errorf("an editor creates a Project: %v", err)
	}

	_, err = editors.UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	forbidden(t, "an editor writes a status", err)
	_, err = viewers.Update(ctx, foo, metav1.UpdateOptions{})
	forbidden(t, "a viewer writes a Foo", err)
	_, err = viewersScales.Update(ctx, resource, scale, metav1.UpdateOptions{})
	forbidden(t, "a viewer scales a Foo", err)
	_, err = viewer.ExamplesV1alpha1().Projects(s.namespace).Create(ctx, project, metav1.CreateOptions{})
	forbidden(t, "a viewer creates a Project", err)
	if err := editors.Delete(ctx, "foo", metav1.DeleteOptions{}); err != nil {
		t.Errorf("an editor deletes a Foo: %v", err)
	}
}
