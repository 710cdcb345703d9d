//go:build bare

package peers

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/subprocess"
)

const (
	foos     = 20
	deadline = time.Minute
)

// Each peer, one after the other on the same bare API server, gives every Foo a
// Deployment and a status, and ends when it is told to. The floor and the framework
// leave the same objects as byhand: else they would be compared at different work.
func TestPeers(t *testing.T) {
	kubeconfig := os.Getenv("KUBECONFIG")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatalf("this test needs a cluster of etcd and kube-apiserver alone, see `make test`: %v", err)
	}
	config.QPS = -1
	// While one works the next are built. Without debugging tables that is faster.
	t.Setenv("GOFLAGS", "-ldflags=-w")
	dir, builds := t.TempDir(), map[string]func() error{}
	for _, peer := range All() {
		if builds[peer.binary] == nil {
			builds[peer.binary] = sync.OnceValue(func() error { return Build(t.Context(), dir, peer) })
			go builds[peer.binary]()
		}
	}
	var byhand result
	for _, peer := range All() {
		t.Run(peer.Name, func(t *testing.T) {
			if err := builds[peer.binary](); err != nil {
				t.Fatal(err)
			}
			s := newScene(t, kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config))
			p := subprocess.Run(t, peer.Command(t.Context(), dir, kubeconfig), deadline)
			s.waitUntilWritten()
			end(t, peer, p)
			got := s.result()
			switch peer.Name {
			case "byhand":
				byhand = got
			case "byhand-tuned", "floor", "floor-watch":
				if diff := cmp.Diff(byhand, got); diff != "" {
					t.Errorf("what is left of a new Foo (-byhand +%s):\n%s", peer.Name, diff)
				}
			case "controller-runtime", "controller-runtime-tuned":
				// What byhand notes to recognise stale caches is its own.
				want := byhand
				want.Annotations, want.Status.ObservedDeploymentVersion = nil, ""
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("what is left of a new Foo (-byhand +%s):\n%s", peer.Name, diff)
				}
			}
		})
	}
}

// end waits until a peer has ended: by itself if it is a loop, else because it is told to.
func end(t *testing.T, peer Peer, p *subprocess.Program) {
	t.Helper()
	if !peer.Loop {
		p.Stop()
	} else if code := p.Exit(); code != 0 {
		t.Errorf("%s ended with exit code %d", peer.Name, code)
	}
}

// scene is a namespace with Foos that nobody has acted on.
type scene struct {
	*testing.T
	kube      kubernetes.Interface
	client    clientset.Interface
	namespace string
	created   map[string]*v1alpha1.Foo
}

// newScene creates the Foos. No garbage collector runs on a bare API server, so the
// test itself removes what the next peer must not see.
func newScene(t *testing.T, kube kubernetes.Interface, client clientset.Interface) *scene {
	t.Helper()
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "peers-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t, kube, client, namespace.Name, map[string]*v1alpha1.Foo{}}
	t.Cleanup(func() {
		ctx := context.Background()
		for what, err := range map[string]error{
			"Foos":        client.SamplecontrollerV1alpha1().Foos(s.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
			"Deployments": kube.AppsV1().Deployments(s.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
			"namespace":   kube.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{}),
		} {
			if err != nil {
				t.Errorf("clean up the %s: %v", what, err)
			}
		}
	})
	for i := range foos {
		foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("foo-%02d", i)}}
		foo.Spec = v1alpha1.FooSpec{DeploymentName: foo.Name, Replicas: new(int32(i % 3))}
		if s.created[foo.Name], err = client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(t.Context(), foo, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// waitUntilWritten waits until each Foo controls the Deployment that it names and has
// a new resourceVersion: nobody writes a Foo here but the peer, and a peer only its
// status.
func (s *scene) waitUntilWritten() {
	s.Helper()
	var missing string
	if err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, deadline, true, func(ctx context.Context) (bool, error) {
		missing = ""
		all, deployments := s.list(ctx)
		for name, foo := range all {
			if deployment := deployments[name]; deployment == nil || !metav1.IsControlledBy(deployment, foo) {
				missing = "a Deployment of " + name
			} else if foo.ResourceVersion == s.created[name].ResourceVersion {
				missing = "a status of " + name
			}
		}
		return missing == "", nil
	}); err != nil {
		s.Fatalf("missing: %s: %v", missing, err)
	}
}

// list returns the Foos and Deployments by name.
func (s *scene) list(ctx context.Context) (map[string]*v1alpha1.Foo, map[string]*appsv1.Deployment) {
	s.Helper()
	foos, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	deployments, err := s.kube.AppsV1().Deployments(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	foosByName, deploymentsByName := map[string]*v1alpha1.Foo{}, map[string]*appsv1.Deployment{}
	for i := range foos.Items {
		foosByName[foos.Items[i].Name] = &foos.Items[i]
	}
	for i := range deployments.Items {
		deploymentsByName[deployments.Items[i].Name] = &deployments.Items[i]
	}
	return foosByName, deploymentsByName
}

// result is what a peer wrote for one Foo, without what differs from one Foo to the
// next.
type result struct {
	Annotations map[string]string
	Owners      []metav1.OwnerReference
	Spec        appsv1.DeploymentSpec
	Status      v1alpha1.FooStatus
}

func (s *scene) result() result {
	s.Helper()
	all, deployments := s.list(s.Context())
	foo, deployment := all["foo-02"], deployments["foo-02"]
	if foo == nil || deployment == nil {
		s.Fatal("foo-02 or its Deployment is missing")
	}
	got := result{deployment.Annotations, deployment.OwnerReferences, deployment.Spec, foo.Status}
	// A label and a selector hold the UID, a status the Deployment's version.
	for _, labels := range []map[string]string{got.Spec.Selector.MatchLabels, got.Spec.Template.Labels} {
		for label, value := range labels {
			if value == string(foo.UID) {
				labels[label] = "UID"
			}
		}
	}
	if got.Status.Selector == v1alpha1.GroupName+"/foo-uid="+string(foo.UID) {
		got.Status.Selector = "UID"
	}
	if got.Status.ObservedDeploymentVersion == deployment.ResourceVersion {
		got.Status.ObservedDeploymentVersion = "the Deployment's"
	}
	for i := range got.Owners {
		if got.Owners[i].UID == foo.UID {
			got.Owners[i].UID = types.UID("UID")
		}
	}
	for i := range got.Status.Conditions {
		got.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return got
}
