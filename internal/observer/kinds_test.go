package observer

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/internal/trace"
)

// fooReconciler and projectReconciler write the status of theirs.
type fooReconciler struct{ client clientset.Interface }

func (r fooReconciler) Reconcile(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
	_, err := r.client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, foo("1"), metav1.UpdateOptions{})
	return 0, err
}

type projectReconciler struct{ client clientset.Interface }

func (r projectReconciler) Reconcile(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
	_, err := r.client.ExamplesV1alpha1().Projects("default").Update(ctx, project("1"), metav1.UpdateOptions{})
	return time.Minute, err
}

func project(version string) *examplesv1alpha1.Project {
	return &examplesv1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foo", UID: "uid-p", ResourceVersion: version}}
}

// Two kinds with a queue and a reconcile each, and objects of the same name, in every
// form: each step has its own kind, cause and place.
func TestTwoKinds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "/projects/") {
			_ = json.NewEncoder(w).Encode(typed(project("2"), examplesv1alpha1.SchemeGroupVersion, "Project"))
			return
		}
		_ = json.NewEncoder(w).Encode(typed(foo("2"), v1alpha1.SchemeGroupVersion, "Foo"))
	}))
	defer server.Close()
	happens := func(all bool, out *bytes.Buffer, form Flag) []trace.Step {
		r := New(Options{All: all})
		r.Print(form, out)
		config := &rest.Config{Host: server.URL, QPS: -1}
		r.Wrap(config)
		client := clientset.NewForConfigOrDie(config)
		wire := func(k Kind, reconciler Reconciler) (cache.ResourceEventHandler, func()) {
			queue := r.Queue(k, controller.NewPriorityQueue(""))
			handler := r.Handler(k, queue, enqueueFoos)
			reconcile := r.Reconcile(k, reconciler)
			return handler, func() {
				defer queue.ShutDown()
				key, _ := queue.Get()
				if _, err := reconcile(t.Context(), key); err != nil {
					t.Error(err)
				}
				queue.Done(key)
			}
		}
		foos, workFoos := wire(fooKind, fooReconciler{client})
		projects, workProjects := wire(projectKind, projectReconciler{client})
		foos.OnAdd(foo("1"), false)
		projects.OnAdd(project("1"), false)
		workProjects()
		workFoos()
		projects.OnUpdate(project("1"), project("2"))
		foos.OnUpdate(foo("1"), foo("2"))
		steps := kept(r)
		r.Close()
		return steps
	}

	var out bytes.Buffer
	var lines []string
	for _, step := range happens(true, &out, Flag{on: true, json: true}) {
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
	// The recording has the same.
	if recorded, err := trace.ReadRecording(&out); err != nil || len(recorded) != len(lines) || recorded[3].For != "Project default/foo" {
		t.Errorf("%d steps are recorded: %v", len(recorded), err)
	}

	out.Reset()
	happens(true, &out, Flag{on: true, key: "default/foo"})
	for _, want := range []string{"reconcile started   Project default/foo", "reconcile started   Foo default/foo"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the trace does not say %q:\n%s", want, out.String())
		}
	}

	out.Reset()
	happens(false, &out, Flag{})
	const want = "added    Foo default/foo: wants d|added    Project default/foo: a Project|" +
		"sent     PUT /apis/examples-gzh.com/v1alpha1/namespaces/default/projects/foo → 200 OK  (for Project default/foo)|" +
		"sent     PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/foo/status → 200 OK  (for Foo default/foo)|"
	if got := strings.ReplaceAll(clock.ReplaceAllString(out.String(), ""), "\n", "|"); got != want {
		t.Errorf("the story is\n%s\nwant\n%s", got, want)
	}
}
