package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit"
)

// world is a reconciler before an API server, in memory or real. It acts when a test says so.
type world struct {
	*testing.T
	*reconciler
	// The clients of others.
	foos        clientset.FooInterface
	deployments appsv1client.DeploymentInterface
	// What the reconciler sent: writes of Deployments, and how many were answered with 409.
	requests, conflicts int
	// between is called once, before the next of these writes.
	between func()
}

// newWorld makes a Foo that asks for two replicas.
func newWorld(t *testing.T, config *rest.Config, namespace, way string, force bool) *world {
	t.Helper()
	w := &world{T: t}
	w.foos = clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos(namespace)
	w.deployments = kubernetes.NewForConfigOrDie(config).AppsV1().Deployments(namespace)
	watched := rest.CopyConfig(config)
	watched.Wrap(func(next http.RoundTripper) http.RoundTripper { return wire{w, next} })
	w.reconciler = &reconciler{clientset.NewForConfigOrDie(watched).SamplecontrollerV1alpha1(),
		kubernetes.NewForConfigOrDie(watched).AppsV1(), cache.NewStore(cache.MetaNamespaceKeyFunc), way, force}
	_, err := w.foos.Create(t.Context(), &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "foo"},
		Spec: v1alpha1.FooSpec{DeploymentName: "d", Replicas: new(int32(2))}}, metav1.CreateOptions{})
	w.must(err)
	return w
}

// wire is between the reconciler and the API server.
type wire struct {
	*world
	next http.RoundTripper
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/deployments") {
		return w.next.RoundTrip(r)
	}
	w.requests++
	if between := w.between; between != nil {
		w.between = nil
		between()
	}
	answer, err := w.next.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusConflict {
		w.conflicts++
	}
	return answer, err
}

// must ends the test after an error.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// give makes the Foo ask for no number, so that others may set it.
func (w *world) give() {
	w.Helper()
	_, err := w.foos.Patch(w.Context(), "foo", types.MergePatchType, []byte(`{"spec":{"replicas":null}}`), metav1.PatchOptions{})
	w.must(err)
}

// get returns the Deployment, empty if there is none.
func (w *world) get() *appsv1.Deployment {
	deployment, _ := w.deployments.Get(w.Context(), "d", metav1.GetOptions{})
	return deployment
}

func (w *world) has(replicas int32) {
	w.Helper()
	if got := ptr.Deref(w.get().Spec.Replicas, -1); got != replicas {
		w.Errorf("replicas %d, want %d", got, replicas)
	}
}

func (w *world) reconcile() error {
	w.Helper()
	foo, err := w.foos.Get(w.Context(), "foo", metav1.GetOptions{})
	w.must(err)
	w.must(w.fooStore.Add(foo))
	_, err = w.Reconcile(w.Context(), cache.MetaObjectToName(foo))
	return err
}

// settle reconciles for each event of the Deployment, and after each error, until there is none.
func (w *world) settle() {
	w.Helper()
	var err error
	for range 1000 {
		before := w.get().ResourceVersion
		if err = w.reconcile(); err == nil && w.get().ResourceVersion == before {
			return
		}
	}
	w.Fatal("the reconcile does not come to an end: ", err)
}

func (w *world) patch(kind types.PatchType, document string) {
	w.Helper()
	_, err := w.deployments.Patch(w.Context(), "d", kind, []byte(document), metav1.PatchOptions{FieldManager: "other"})
	w.must(err)
}

func (w *world) label(value int) {
	w.Helper()
	w.patch(types.MergePatchType, fmt.Sprintf(`{"metadata":{"labels":{"round":"%d"}}}`, value))
}

func (w *world) scale(replicas int) {
	w.Helper()
	w.must(retry.RetryOnConflict(retry.DefaultRetry, func() error { return scale(w.Context(), w.deployments, "d", int32(replicas)) }))
}

// result is a row of the README's table.
type result struct {
	wins                string
	requests, conflicts int
	lost                string
}

// table has them by the way.
var table = map[string]result{
	"update":        {"the Foo", 20, 10, "nothing"},
	"merge":         {"the Foo", 10, 0, "the sidecar"},
	"strategic":     {"the Foo", 10, 0, "nothing"},
	"apply":         {"the autoscaler", 20, 20, "nothing"},
	"apply --force": {"the Foo", 10, 0, "nothing"},
}

// measure adds a sidecar and plays ten rounds: an autoscaler scales, and while the reconcile
// writes, another client labels.
func (w *world) measure() (r result) {
	w.Helper()
	w.settle()
	w.patch(types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"sidecar:1"}]}}}}`)
	r.wins, r.lost, w.requests = "the Foo", "nothing", 0
	for round := range 10 {
		w.scale(3 + round)
		w.between = func() { w.label(round) }
		w.settle()
		if w.get().Labels["round"] != fmt.Sprint(round) {
			r.lost = "the label"
		}
	}
	if len(w.get().Spec.Template.Spec.Containers) == 1 {
		r.lost = "the sidecar"
	}
	if *w.get().Spec.Replicas != 2 {
		r.wins = "the autoscaler"
	}
	r.requests, r.conflicts = w.requests, w.conflicts

	// The Foo gives the number away. It stays, and from then on nothing is sent.
	before := *w.get().Spec.Replicas
	w.give()
	w.settle()
	w.has(before)
	w.requests = 0
	w.scale(7)
	w.label(10)
	w.settle()
	w.has(7)
	if w.requests != 0 {
		w.Errorf("%d requests although nothing differs", w.requests)
	}
	return r
}

// inMemory is a world whose API server has no server-side apply. So the status goes there as a
// merge patch of the same document.
func inMemory(t *testing.T, way string) *world {
	api := testkit.NewAPIServer()
	api.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/status") {
			r.Header.Set("Content-Type", string(types.MergePatchType))
		}
		return false
	})
	return newWorld(t, api.Config(), metav1.NamespaceDefault, way, false)
}

// The three ways that know no owners. TestFourWays does the same on a real API server.
func TestThreeWays(t *testing.T) {
	for _, way := range []string{"update", "merge", "strategic"} {
		if got := inMemory(t, way).measure(); got != table[way] {
			t.Errorf("%s: %v, want %v", way, got, table[way])
		}
	}
}

// A Deployment that the Foo does not control is left alone. An apply would change it.
func TestStranger(t *testing.T) {
	w := inMemory(t, "apply")
	_, err := w.deployments.Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, metav1.CreateOptions{})
	w.must(err)
	if err := w.reconcile(); err == nil || w.requests != 0 {
		t.Errorf("error %v, %d writes, want an error and none", err, w.requests)
	}
}

// An Update of an object that was built anew has no resourceVersion: it is not refused, and
// what it lacks is gone. The number becomes the default.
func TestUpdateBuiltAnew(t *testing.T) {
	w := inMemory(t, "update")
	w.give()
	w.settle()
	w.scale(5)
	w.label(1)
	anew := w.get()
	anew.ObjectMeta = metav1.ObjectMeta{Name: "d"}
	anew.Spec.Replicas = nil
	_, err := w.deployments.Update(t.Context(), anew, metav1.UpdateOptions{})
	w.must(err)
	w.has(1)
	if labels := w.get().Labels; len(labels) != 0 {
		t.Errorf("labels %v, want none", labels)
	}
}

// A strategic merge patch needs the Go type of the kind. A custom resource has none.
func TestStrategicOfFoo(t *testing.T) {
	w := inMemory(t, "strategic")
	_, err := w.foos.Patch(t.Context(), "foo", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("error %v, want UnsupportedMediaType", err)
	}
}

// A cache may drop managedFields, as the core's informer does. Then a program seems to own
// nothing, and would apply at each reconcile.
func TestExtractWithoutManagedFields(t *testing.T) {
	owned, err := appsv1ac.ExtractDeployment(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}, manager)
	if err != nil || owned.Spec != nil {
		t.Errorf("%+v (%v), want nothing but the name", owned, err)
	}
}
