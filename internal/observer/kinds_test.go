package observer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/controller"
)

func project(version string, replicas int32) *examplesv1alpha1.Project {
	return &examplesv1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", ResourceVersion: version}, Spec: examplesv1alpha1.ProjectSpec{Replicas: replicas}}
}

// Two kinds with a queue and a reconcile each, and objects of the same name: each step has
// its own kind and cause.
func TestTwoKinds(t *testing.T) {
	r, api, client, _ := served(t)
	const projectPath = "/apis/examples-gzh.com/v1alpha1/namespaces/default/projects/foo"
	api.Add(projectPath, stored(project("", 1)))
	before, ofProject := api.Get(fooPath).GetResourceVersion(), api.Get(projectPath).GetResourceVersion()
	r.kinds["Foo"].has = map[string]bool{}
	wire := func(k Kind, write func(ctx context.Context) error) (cache.ResourceEventHandler, func()) {
		queue := r.Queue(k, controller.NewPriorityQueue(""))
		handler := r.handler(k, enqueueFoos(queue))
		observed := r.Reconcile(k, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) { return 0, write(ctx) }))
		return handler, func() {
			defer queue.ShutDown()
			key, _ := queue.Get()
			if _, err := observed.Reconcile(t.Context(), key); err != nil {
				t.Error(err)
			}
			queue.Done(key)
		}
	}
	foos, workFoos := wire(fooKind, func(ctx context.Context) error {
		_, err := client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, updated(before), metav1.UpdateOptions{})
		return err
	})
	projects, workProjects := wire(projectKind, func(ctx context.Context) error {
		_, err := client.ExamplesV1alpha1().Projects("default").Update(ctx, project(ofProject, 2), metav1.UpdateOptions{})
		return err
	})
	foos.OnAdd(foo(before), false)
	projects.OnAdd(project(ofProject, 1), false)
	workProjects()
	workFoos()
	projects.OnUpdate(project(ofProject, 1), project(api.Get(projectPath).GetResourceVersion(), 2))
	foos.OnUpdate(foo(before), foo(api.Get(fooPath).GetResourceVersion()))

	var lines []string
	for _, step := range kept(r) {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{string(step.Part), step.What, step.Kind, "for", step.For, "←", step.Cause}, " ")))
		if step.Key != "default/foo" {
			t.Errorf("the key of step %d is %q", step.Seq, step.Key)
		}
	}
	if diff := cmp.Diff([]string{
		"store added Foo for Foo default/foo ←",
		"queue added Foo for Foo default/foo ← Foo foo added",
		"store added Project for Project default/foo ←",
		"queue added Project for Project default/foo ← Project foo added",
		"worker got Project for Project default/foo ← Project foo added",
		"reconcile started Project for Project default/foo ← Project foo added",
		"request sent Project for Project default/foo ←",
		"request answered Project for Project default/foo ←",
		"reconcile ended Project for Project default/foo ←",
		"worker done Project for Project default/foo ←",
		"worker got Foo for Foo default/foo ← Foo foo added",
		"reconcile started Foo for Foo default/foo ← Foo foo added",
		"request sent Foo for Foo default/foo ←",
		"request answered Foo for Foo default/foo ←",
		"reconcile ended Foo for Foo default/foo ←",
		"worker done Foo for Foo default/foo ←",
		"store updated Project for Project default/foo ← our own write",
		"store updated Foo for Foo default/foo ← our own write",
	}, lines); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
