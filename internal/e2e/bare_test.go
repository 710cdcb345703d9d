//go:build bare

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// The tests of this file run on etcd and kube-apiserver alone. Nobody else writes,
// so every request is known in advance.

// drain reconciles what the queue holds, a few keys at a time.
func (l *lab) drain() {
	l.Helper()
	var taking sync.Mutex
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for {
				taking.Lock()
				if l.queue.Len() == 0 {
					taking.Unlock()
					return
				}
				key, _ := l.queue.Get()
				taking.Unlock()
				again, err := l.reconciler.Reconcile(l.Context(), key)
				if err != nil {
					l.Errorf("reconcile %s: %v", key, err)
				}
				if again > 0 {
					// A store is behind. Its event adds the key again, too.
					l.queue.AddAfter(key, again)
				}
				l.queue.Done(key)
			}
		})
	}
	running.Wait()
}

// quiet drains until both stores show the newest versions of the objects.
func (l *lab) quiet() {
	l.Helper()
	l.eventually("the stores show what was written", func() error {
		l.drain()
		foos, err := l.client.SamplecontrollerV1alpha1().Foos(l.namespace).List(l.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		deployments, err := l.kube.AppsV1().Deployments(l.namespace).List(l.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		live := map[string]string{}
		for _, foo := range foos.Items {
			live["Foo "+foo.Name] = foo.ResourceVersion
		}
		for _, deployment := range deployments.Items {
			live["Deployment "+deployment.Name] = deployment.ResourceVersion
		}
		stored := map[string]string{}
		for kind, store := range map[string]cache.Store{"Foo ": l.foos.Store, "Deployment ": l.deployments.Store} {
			for _, object := range store.List() {
				accessor, err := meta.Accessor(object)
				if err != nil {
					return err
				}
				stored[kind+accessor.GetName()] = accessor.GetResourceVersion()
			}
		}
		if diff := cmp.Diff(live, stored); diff != "" {
			return fmt.Errorf("stored (+) is not what the server has (-):\n%s", diff)
		}
		if n := l.queue.Len(); n > 0 {
			return fmt.Errorf("%d keys wait", n)
		}
		return nil
	})
}

// wrote fails the test unless exactly these requests were sent since the last
// call.
func (l *lab) wrote(what string, want ...string) {
	l.Helper()
	got := l.proxy.Requests()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		l.Errorf("%s: requests (-want +got):\n%s", what, diff)
	}
}

// runs pretends that the Deployment's Pods have started.
func (s *server) runs(name string, available int32) *appsv1.Deployment {
	s.Helper()
	deployments := s.kube.AppsV1().Deployments(s.namespace)
	deployment, err := deployments.Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: available, ReadyReplicas: available, AvailableReplicas: available, UpdatedReplicas: available}
	updated, err := deployments.UpdateStatus(s.Context(), deployment, metav1.UpdateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return updated
}

// What each change costs, request by request.
func TestRequestsPerChange(t *testing.T) {
	s := newServer(t)
	l := newLab(s)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	for _, step := range []struct {
		what   string
		change func()
		want   []string
	}{
		{"a new Foo", func() { s.createFoo("foo", spec("d", 1)) }, []string{"POST deployments", "PUT foos/foo/status"}},
		{"its Pod runs", func() { s.runs("d", 1) }, []string{"PUT foos/foo/status"}},
		{"scaled", func() { s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { *spec.Replicas = 2 }) }, []string{"PUT deployments/d", "PUT foos/foo/status"}},
		{"somebody scales the Deployment", func() { s.patchDeployment("d", `{"spec":{"replicas":7}}`) }, []string{"PUT deployments/d"}},
		{"somebody changes the image", func() {
			s.patchDeployment("d", `{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"other"}]}}}}`)
		}, []string{"PUT deployments/d"}},
		{"somebody adds what is not ours", func() {
			s.patchDeployment("d", `{"metadata":{"annotations":{"note":"theirs"}},"spec":{"template":{"spec":{"terminationGracePeriodSeconds":3}}}}`)
		}, nil},
		{"a label of the Foo", func() {
			if _, err := foos.Patch(s.Context(), "foo", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"the number given away", func() { s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.Replicas = nil }) }, []string{"PUT foos/foo/status"}},
		{"renamed", func() { s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "e" }) },
			[]string{"POST deployments", "GET foos/foo", "DELETE deployments/d", "PUT foos/foo/status"}},
		{"somebody deletes the Deployment", func() { s.deleteDeployment("e") }, []string{"GET foos/foo", "POST deployments"}},
		{"another Foo of the same Deployment", func() { s.createFoo("late", spec("e", 1)) }, []string{"PUT foos/late/status"}},
		{"deleted", func() { s.deleteFoo("late") }, nil},
	} {
		step.change()
		l.quiet()
		l.wrote(step.what, step.want...)
		// And nothing more when all is looked at again.
		l.enqueueAll()
		l.quiet()
		l.wrote(step.what + ", looked at again")
	}
}

// enqueueAll adds every Foo, as a resync does.
func (l *lab) enqueueAll() {
	for _, key := range l.foos.Store.ListKeys() {
		name, err := cache.ParseObjectName(key)
		if err != nil {
			l.Fatal(err)
		}
		l.queue.Add(name)
	}
}

// A watch that is refused (here the server has forgotten where it ended) makes the informer
// list again. Nothing has changed, so nothing is sent.
func TestRelist(t *testing.T) {
	s := newServer(t)
	l := newLab(s)
	s.createFoos(*foos)
	l.quiet()
	l.proxy.Requests()
	l.relist()
	l.quiet()
	l.wrote("after a relist")
}

// relist cuts both watches, refuses to resume them, and waits until everything has been
// listed again and every Foo's key is in the queue.
func (l *lab) relist() {
	l.Helper()
	var mu sync.Mutex
	lists := map[string]bool{}
	l.proxy.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		if query.Get("watch") != "" && query.Get("sendInitialEvents") == "" {
			http.Error(w, "refused by the test", http.StatusGone)
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		lists[r.URL.Path] = true
		return false
	})
	l.proxy.CutWatches("foos")
	l.proxy.CutWatches("deployments")
	l.eventually("both resources are listed, and each Foo is in the queue again", func() error {
		mu.Lock()
		defer mu.Unlock()
		if n := l.queue.Len(); len(lists) < 2 || n < *foos {
			return fmt.Errorf("%d lists, %d keys", len(lists), n)
		}
		return nil
	})
	l.proxy.Intercept(nil)
}
