package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

// world is a reconciler with an API server, in memory or real. It reconciles when a test calls it.
type world struct {
	*testing.T
	*reconciler
	// foo is in the reconciler's cache.
	foo *v1alpha1.Foo
	// faults sits between the reconciler and the API server. Other clients bypass it.
	faults      *testkit.Faults
	deployments appsv1client.DeploymentInterface
}

// newWorld creates a Foo that asks for two replicas. The way is one of the README's table.
func newWorld(t *testing.T, config *rest.Config, namespace, way string) *world {
	t.Helper()
	forward, unreachable := testkit.Forward(config)
	w := &world{T: t, faults: &testkit.Faults{Next: forward}, deployments: kubernetes.NewForConfigOrDie(config).AppsV1().Deployments(namespace)}
	way, how, _ := strings.Cut(way, " ")
	if how == "without resourceVersion" {
		w.faults.Mutate(func(_ *http.Request, object map[string]any) {
			unstructured.RemoveNestedField(object, "metadata", "resourceVersion")
		})
	}
	faulty := &rest.Config{Host: config.Host, Transport: testkit.Transport{Handler: w.faults}, QPS: -1}
	w.reconciler = &reconciler{clientset.NewForConfigOrDie(faulty).SamplecontrollerV1alpha1(), kubernetes.NewForConfigOrDie(faulty).AppsV1(),
		cache.NewStore(cache.MetaNamespaceKeyFunc), way, how == "--force"}
	foo, err := w.foos.Foos(namespace).Create(t.Context(), &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"},
		Spec: v1alpha1.FooSpec{DeploymentName: "d", Replicas: new(int32(2))}}, metav1.CreateOptions{})
	if unreachable != nil || err != nil {
		t.Fatal(unreachable, err)
	}
	foo.Status.ObservedGeneration = foo.Generation // TestReadme covers the status
	w.foo, _ = foo, w.fooStore.Add(foo)
	return w
}

func (w *world) get() *appsv1.Deployment {
	deployment, _ := w.deployments.Get(w.Context(), "d", metav1.GetOptions{})
	return deployment
}

func (w *world) patch(manager string, kind types.PatchType, document string, subresources ...string) {
	w.Helper()
	if _, err := w.deployments.Patch(w.Context(), "d", kind, []byte(document), metav1.PatchOptions{FieldManager: manager}, subresources...); err != nil {
		w.Error(err)
	}
}

func (w *world) scale(replicas any) {
	w.patch("autoscaler", types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%v}}`, replicas), "scale")
}

// meanwhile acts once, during the reconciler's next write.
func (w *world) meanwhile(act func()) {
	w.faults.OnWrite(func(n int, _ *http.Request) testkit.Fault {
		if n == 1 {
			act()
		}
		return testkit.Pass
	})
}

func (w *world) reconcile() error {
	_, err := w.Reconcile(w.Context(), cache.MetaObjectToName(w.foo))
	return err
}

// settle reconciles for each event of the Deployment, and after each error, until nothing changes.
func (w *world) settle() {
	for before := w.get().ResourceVersion; w.reconcile() != nil || w.get().ResourceVersion != before; before = w.get().ResourceVersion {
		if len(w.faults.Log()) > 1000 {
			w.Fatal("the reconcile does not settle")
		}
	}
}

// sent returns the number of the reconciler's writes since the last call, and how many got 409.
func (w *world) sent() (requests, conflicts int) {
	for _, request := range w.faults.Log() {
		if request.Method != http.MethodGet {
			requests++
		}
		if request.Code == http.StatusConflict {
			conflicts++
		}
	}
	w.faults.Forget()
	return requests, conflicts
}

// measure adds a sidecar, plays ten rounds and returns the row of the README's table. It does not
// count unexpected conflicts, nor the additional request of each.
func (w *world) measure(way string, expected int) string {
	w.settle()
	w.patch("person", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"sidecar:1"}]}}}}`)
	w.sent()
	for round := range 10 {
		w.scale(3 + round)
		w.meanwhile(func() {
			w.patch("labeler", types.MergePatchType, fmt.Sprintf(`{"metadata":{"labels":{"round":"%d"}}}`, round))
		})
		w.settle()
	}
	requests, conflicts := w.sent()
	more := max(0, conflicts-expected)
	before, lost := w.get(), "nothing"
	wins := map[int32]string{2: "the Foo", 12: "the autoscaler"}[*before.Spec.Replicas]
	if before.Labels["round"] != "9" {
		lost = "the label"
	}
	if len(before.Spec.Template.Spec.Containers) == 1 {
		lost = "the sidecar"
	}

	// The Foo no longer sets replicas. The Deployment's number stays, and nothing more is sent.
	w.foo.Spec.Replicas = nil
	w.settle()
	stays := *w.get().Spec.Replicas == *before.Spec.Replicas
	w.sent()
	w.scale(7)
	w.settle()
	if sent, _ := w.sent(); sent != 0 || !stays || *w.get().Spec.Replicas != 7 {
		w.Errorf("a number that is given away: stays %t, then %d, %d requests, want true, 7, 0", stays, *w.get().Spec.Replicas, sent)
	}
	return fmt.Sprintf("| `%s` | %s | %d | %d | %s |", way, wins, requests-more, conflicts-more, lost)
}

// rows returns the rows of the README's table, each with its way and its number of conflicts.
func rows(t *testing.T) [][]string {
	readme, err := os.ReadFile("README.md")
	rows := regexp.MustCompile("(?m)^\\| `(.+)` \\| .+ \\| \\d+ \\| (\\d+) \\| .+ \\|$").FindAllStringSubmatch(string(readme), -1)
	if err != nil || len(rows) != 6 {
		t.Fatalf("the README has %d ways (%v), want 6", len(rows), err)
	}
	return rows
}

// TestThreeWays runs the ways without field owners: the in-memory server has no server-side apply.
// TestFourWays does the same on a real API server.
func TestThreeWays(t *testing.T) {
	for _, row := range rows(t) {
		if strings.HasPrefix(row[1], "apply") {
			continue
		}
		if got := newWorld(t, tests.NewAPIServer().Config(), metav1.NamespaceDefault, row[1]).measure(row[1], 1000); got != row[0] {
			t.Errorf("%s, want %s", got, row[0])
		}
	}
}

// TestExtractWithoutManagedFields: without managedFields a program seems to own nothing.
func TestExtractWithoutManagedFields(t *testing.T) {
	owned, err := appsv1ac.ExtractDeployment(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}, manager)
	if err != nil || owned.Spec != nil {
		t.Errorf("%+v (%v), want only the name", owned, err)
	}
}

// TestTypedObject verifies that a typed object sends fields that were never set.
func TestTypedObject(t *testing.T) {
	deployment := &appsv1.Deployment{}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	text, err := json.Marshal([]any{deployment, service})
	for _, field := range []string{`"selector":null`, `"strategy":{}`, `"resources":{}`, `"status":{}`, `"targetPort":0`} {
		if err != nil || !strings.Contains(string(text), field) {
			t.Errorf("%v, want %s: %s", err, field, text)
		}
	}
}
