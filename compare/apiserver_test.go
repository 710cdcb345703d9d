//go:build integration

package compare

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/internal/testkit/subprocess"
)

// restaurant is the group of chapters/apiserver. A program cannot be imported.
var restaurant = schema.GroupVersion{Group: "aggregated." + v1beta1.GroupName, Version: "v1beta1"}

// kitchen is the API server of chapters/apiserver behind a real one, and a client of
// controller-runtime that is not told so.
type kitchen struct {
	*testing.T
	client.Client
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
}

// controller-runtime reads from the API server of chapters/apiserver as from any other: in each
// form, and through its cache. Its writes are the requests that the chapter's own tests send.
func TestControllerRuntimeOnOurAPIServer(t *testing.T) {
	config, namespace := newNamespace(t)
	config.QPS = -1
	startAPIServer(t)
	k := &kitchen{T: t, config: config, scheme: runtime.NewScheme(), namespace: namespace}
	k.must(v1beta1.AddToSchemeAs(restaurant)(k.scheme))
	var err error
	k.Client, err = client.New(config, client.Options{Scheme: k.scheme})
	k.must(err)
	for name, cost := range map[string]int32{"tomato": 50, "salami": 150} {
		k.must(k.Create(t.Context(), &v1beta1.Topping{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ToppingSpec{Cost: cost}}))
	}
	for name, test := range map[string]func(*kitchen){"Read": testRead, "Cache": testCache} {
		t.Run(name, func(t *testing.T) {
			part := *k
			part.T = t
			test(&part)
		})
	}
}

// startAPIServer builds and runs the chapter's program until the test ends.
func startAPIServer(t *testing.T) {
	t.Helper()
	build := exec.Command("go", "build", "-C", "chapters", "-o", "../bin/", "./apiserver")
	build.Dir = ".."
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the API server: %v\n%s", err, output)
	}
	p := subprocess.Run(t, exec.Command(filepath.Join("..", "bin", "apiserver"), "--kubeconfig", os.Getenv("KUBECONFIG"), "--store", t.TempDir()), deadline)
	t.Cleanup(p.Stop)
	p.WaitFor("ready: ")
}

// must ends the test at an error.
func (k *kitchen) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// pizza is one with one topping, not yet sent. Its label says which test it belongs to.
func (k *kitchen) pizza(name string) *v1beta1.Pizza {
	return &v1beta1.Pizza{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: name, Labels: map[string]string{"test": filepath.Base(k.Name())}},
		Spec:       v1beta1.PizzaSpec{Toppings: []v1beta1.PizzaTopping{{Name: "tomato", Quantity: 1}}},
	}
}

// baked creates a pizza.
func (k *kitchen) baked(name string) *v1beta1.Pizza {
	k.Helper()
	pizza := k.pizza(name)
	k.must(k.Create(k.Context(), pizza))
	return pizza
}

// mine are the pizzas of this test.
func (k *kitchen) mine() client.MatchingLabels { return k.pizza("").Labels }

// empty returns a pizza to read into, in each form that a client may ask for.
func empty() (typed *v1beta1.Pizza, asMap *unstructured.Unstructured, metadata *metav1.PartialObjectMetadata) {
	asMap, metadata = &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	asMap.SetGroupVersionKind(restaurant.WithKind("Pizza"))
	metadata.SetGroupVersionKind(restaurant.WithKind("Pizza"))
	return &v1beta1.Pizza{}, asMap, metadata
}

// The same object is answered, read in each form, and listed in pages.
func testRead(k *kitchen) {
	pizza := k.baked("read-1")
	if pizza.UID == "" || pizza.ResourceVersion == "" || pizza.Generation != 1 || pizza.CreationTimestamp.IsZero() {
		k.Errorf("the metadata of a new pizza: %+v", pizza.ObjectMeta)
	}
	typed, asMap, metadata := empty()
	for _, form := range []client.Object{typed, asMap, metadata} {
		k.must(k.Get(k.Context(), client.ObjectKeyFromObject(pizza), form))
	}
	fromMap := &v1beta1.Pizza{}
	k.must(runtime.DefaultUnstructuredConverter.FromUnstructured(asMap.Object, fromMap))
	fromMap.TypeMeta = metav1.TypeMeta{}
	for form, got := range map[string]*v1beta1.Pizza{"typed": typed, "unstructured": fromMap, "metadata": {ObjectMeta: metadata.ObjectMeta, Spec: pizza.Spec}} {
		if diff := cmp.Diff(pizza, got); diff != "" {
			k.Errorf("%s (-created +read):\n%s", form, diff)
		}
	}
	k.baked("read-2")
	k.baked("read-3")
	var names []string
	for next := "first"; next != ""; {
		var page v1beta1.PizzaList
		options := []client.ListOption{client.InNamespace(k.namespace), k.mine(), client.Limit(2)}
		if next != "first" {
			options = append(options, client.Continue(next))
		}
		k.must(k.List(k.Context(), &page, options...))
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		next = page.Continue
	}
	if diff := cmp.Diff([]string{"read-1", "read-2", "read-3"}, names); diff != "" {
		k.Errorf("listed in pages (-want +got):\n%s", diff)
	}
}
