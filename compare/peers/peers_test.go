//go:build bare

package peers

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/subprocess"
)

const deadline = time.Minute

// The floor and the framework leave the same objects as byhand: else they would be compared at
// different work. (sample-controller does other work, and the page of results says so.)
func TestSameWork(t *testing.T) {
	kubeconfig := os.Getenv("KUBECONFIG")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatalf("this test needs a cluster of etcd and kube-apiserver alone, see `make test`: %v", err)
	}
	kube, client := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	// Without debugging tables the build is faster.
	t.Setenv("GOFLAGS", "-ldflags=-w")
	dir := t.TempDir()
	var byhand *result
	for _, peer := range All() {
		if peer.pkg == sample {
			continue
		}
		t.Run(peer.Name, func(t *testing.T) {
			if err := Build(t.Context(), dir, peer); err != nil {
				t.Fatal(err)
			}
			foo := newFoo(t, kube, client)
			p := subprocess.Run(t, peer.Command(t.Context(), dir, kubeconfig), deadline)
			got := resultOf(t, kube, client, foo)
			if !peer.Loop {
				p.Stop()
			} else if code := p.Exit(); code != 0 {
				t.Errorf("it ended with exit code %d", code)
			}
			if byhand == nil {
				byhand = got
			}
			if diff := cmp.Diff(byhand, got); diff != "" {
				t.Errorf("what is left of a new Foo (-byhand +%s):\n%s", peer.Name, diff)
			}
		})
	}
}

// newFoo creates a Foo in a namespace of its own. No garbage collector runs on a bare API
// server, so the test itself removes what the next peer must not see.
func newFoo(t *testing.T, kube kubernetes.Interface, client clientset.Interface) *v1alpha1.Foo {
	t.Helper()
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "peers-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	foos, ctx := client.SamplecontrollerV1alpha1().Foos(namespace.Name), context.Background()
	t.Cleanup(func() {
		_ = foos.Delete(ctx, "foo", metav1.DeleteOptions{})
		_ = kube.AppsV1().Deployments(namespace.Name).Delete(ctx, "foo", metav1.DeleteOptions{})
		_ = kube.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{})
	})
	foo, err := foos.Create(t.Context(), &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: v1alpha1.FooSpec{DeploymentName: "foo", Replicas: new(int32(2))}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return foo
}

// result is what a peer wrote for a Foo, without what differs from one Foo to the next.
type result struct {
	Annotations map[string]string
	Owners      []metav1.OwnerReference
	Spec        appsv1.DeploymentSpec
	Status      v1alpha1.FooStatus
}

// resultOf waits until the peer has written the Deployment and the status.
func resultOf(t *testing.T, kube kubernetes.Interface, client clientset.Interface, foo *v1alpha1.Foo) *result {
	t.Helper()
	var written *v1alpha1.Foo
	var d *appsv1.Deployment
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, deadline, true, func(ctx context.Context) (done bool, err error) {
		if written, err = client.SamplecontrollerV1alpha1().Foos(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{}); err == nil {
			d, err = kube.AppsV1().Deployments(foo.Namespace).Get(ctx, foo.Name, metav1.GetOptions{})
		}
		return err == nil && written.ResourceVersion != foo.ResourceVersion, nil
	}); err != nil {
		t.Fatalf("Deployment %v, Foo %v: %v", d, written, err)
	}
	got := &result{d.Annotations, d.OwnerReferences, d.Spec, written.Status}
	// A label and a selector hold the UID.
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
	for i := range got.Owners {
		if got.Owners[i].UID == foo.UID {
			got.Owners[i].UID = "UID"
		}
	}
	for i := range got.Status.Conditions {
		got.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return got
}
