//go:build integration

package compare

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

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

// controller-runtime works with the API server of chapters/apiserver as with any other.
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
	for name, test := range map[string]func(*kitchen){
		"Read": testRead, "Write": testWrite, "Patch": testPatch, "Apply": testApply,
		"Delete": testDelete, "Subresource": testSubresource, "Cache": testCache,
	} {
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
	build := exec.Command("go", "build", "-o", "bin/", "./chapters/apiserver")
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

// refused fails the test unless the server refuses for a reason.
func (k *kitchen) refused(what string, err error, is func(error) bool) {
	k.Helper()
	if !is(err) {
		k.Errorf("%s: %v", what, err)
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

// read reads a pizza again.
func (k *kitchen) read(pizza *v1beta1.Pizza) *v1beta1.Pizza {
	k.Helper()
	out := &v1beta1.Pizza{}
	k.must(k.Get(k.Context(), client.ObjectKeyFromObject(pizza), out))
	return out
}

// copied returns a copy. (DeepCopy would be that of the metadata alone.)
func copied(pizza *v1beta1.Pizza) *v1beta1.Pizza { return pizza.DeepCopyObject().(*v1beta1.Pizza) }

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

// A write from an older version is a conflict, one that changes nothing makes no version, and
// a dry run writes nothing.
func testWrite(k *kitchen) {
	pizza := k.baked("write")
	k.refused("the same name twice", k.Create(k.Context(), k.pizza("write")), apierrors.IsAlreadyExists)
	stale := copied(pizza)
	pizza.Spec.Toppings[0].Quantity = 2
	k.must(k.Update(k.Context(), pizza))
	if pizza.Generation != 2 || pizza.ResourceVersion == stale.ResourceVersion {
		k.Errorf("generation %d, resourceVersion %s after an update of %s", pizza.Generation, pizza.ResourceVersion, stale.ResourceVersion)
	}
	k.refused("an update from an older version", k.Update(k.Context(), stale), apierrors.IsConflict)
	if done, err := controllerutil.CreateOrUpdate(k.Context(), k, copied(pizza), func() error { return nil }); err != nil || done != controllerutil.OperationResultNone {
		k.Errorf("CreateOrUpdate of what is there: %s, %v", done, err)
	}
	same := copied(pizza)
	if k.must(k.Update(k.Context(), same)); same.ResourceVersion != pizza.ResourceVersion {
		k.Errorf("resourceVersion %s, was %s, and nothing has changed", same.ResourceVersion, pizza.ResourceVersion)
	}
	dry := k.pizza("dry")
	k.must(k.Create(k.Context(), dry, client.DryRunAll))
	k.refused("what was created in a dry run", k.Get(k.Context(), client.ObjectKeyFromObject(dry), dry), apierrors.IsNotFound)
	unknown := k.pizza("unknown")
	unknown.Spec.Toppings[0].Name = "pineapple"
	k.refused("an unknown topping", k.Create(k.Context(), unknown), apierrors.IsInvalid)
}
