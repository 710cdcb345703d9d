package compare

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// caller is one of the clients that are compared: each verb is the call that a user of that
// client writes.
type caller struct {
	name                            string
	get, list, create, updateStatus func(context.Context) (any, error)
	watch                           func(context.Context) (watch.Interface, error)
}

// calls returns the verbs by name. watch is the next event of a stream that ends with the
// test.
func (c caller) calls(t *testing.T) map[string]func(context.Context) (any, error) {
	stream, err := c.watch(t.Context())
	if err != nil {
		t.Fatalf("%s, watch: %v", c.name, err)
	}
	t.Cleanup(stream.Stop)
	return map[string]func(context.Context) (any, error){"get": c.get, "list": c.list, "create": c.create, "updateStatus": c.updateStatus,
		"watch": func(context.Context) (any, error) { return (<-stream.ResultChan()).Object, nil }}
}

// foosClient is what a typed client of the Foos of a namespace has, whoever wrote it.
type foosClient interface {
	Get(context.Context, string, metav1.GetOptions) (*v1alpha1.Foo, error)
	List(context.Context, metav1.ListOptions) (*v1alpha1.FooList, error)
	Create(context.Context, *v1alpha1.Foo, metav1.CreateOptions) (*v1alpha1.Foo, error)
	UpdateStatus(context.Context, *v1alpha1.Foo, metav1.UpdateOptions) (*v1alpha1.Foo, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func typed(name string, foos func(namespace string) foosClient) caller {
	sent := sentFoo()
	return caller{
		name: name,
		get: func(ctx context.Context) (any, error) {
			return foos("default").Get(ctx, sent.Name, metav1.GetOptions{})
		},
		list: func(ctx context.Context) (any, error) { return foos("default").List(ctx, metav1.ListOptions{}) },
		create: func(ctx context.Context) (any, error) {
			return foos("default").Create(ctx, sent, metav1.CreateOptions{})
		},
		updateStatus: func(ctx context.Context) (any, error) {
			return foos("default").UpdateStatus(ctx, sent, metav1.UpdateOptions{})
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return foos("default").Watch(ctx, metav1.ListOptions{})
		},
	}
}

// byHand calls the clientset of this project.
func byHand(config *rest.Config) caller {
	getter := clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1()
	return typed("byhand", func(namespace string) foosClient { return getter.Foos(namespace) })
}

// generated calls what client-gen makes of our types: client-go's generic client,
// with the names and types filled in.
func generated(t *testing.T, config *rest.Config) caller {
	// As generated code configures itself.
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &v1alpha1.SchemeGroupVersion, "/apis"
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(clientset.Scheme, clientset.Codecs).WithoutConversion()
	restClient, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	parameterCodec := runtime.NewParameterCodec(clientset.Scheme)
	return typed("generated", func(namespace string) foosClient {
		return gentype.NewClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration](
			"foos", restClient, parameterCodec, namespace,
			func() *v1alpha1.Foo { return &v1alpha1.Foo{} }, func() *v1alpha1.FooList { return &v1alpha1.FooList{} })
	})
}

// controllerRuntime calls controller-runtime's client without its cache. The mapper
// is given, so that no discovery is part of what is compared.
func controllerRuntime(t *testing.T, config *rest.Config) caller {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.SchemeGroupVersion.WithKind("Foo"), meta.RESTScopeNamespace)
	c, err := client.NewWithWatch(config, client.Options{Scheme: clientset.Scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	sent := sentFoo()
	return caller{
		name: "controller-runtime",
		get: func(ctx context.Context) (any, error) {
			foo := &v1alpha1.Foo{}
			return foo, c.Get(ctx, client.ObjectKeyFromObject(sent), foo)
		},
		list: func(ctx context.Context) (any, error) {
			list := &v1alpha1.FooList{}
			return list, c.List(ctx, list, client.InNamespace("default"))
		},
		// Writes change the object that they are given. It is empty before they decode
		// into it, so a shallow copy is enough.
		create: func(ctx context.Context) (any, error) {
			foo := *sent
			return &foo, c.Create(ctx, &foo)
		},
		updateStatus: func(ctx context.Context) (any, error) {
			foo := *sent
			return &foo, c.Status().Update(ctx, &foo)
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return c.Watch(ctx, &v1alpha1.FooList{}, client.InNamespace("default"))
		},
	}
}

// wires are the encodings that are compared, and how to get the clients that know
// them, connected to a server of their own.
var wires = []struct {
	name    string
	callers func(*testing.T) []caller
}{{"json", jsonCallers}, {"cbor", cborCallers}}

func jsonCallers(t *testing.T) []caller {
	config := configOf(newReplies(t, "application/json", "application/json").serve(t))
	return []caller{byHand(config), generated(t, config), controllerRuntime(t, config)}
}

// cborCallers needs two feature gates of client-go, and a real API server needs
// CBORServingAndStorage: all are alpha and off in v0.37. controller-runtime is
// missing: its typed client always makes its own codecs, without CBOR
// (pkg/client/client.go).
func cborCallers(t *testing.T) []caller {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
	config := configOf(newReplies(t, "application/cbor", "application/cbor-seq").serve(t))
	return []caller{byHand(config), generated(t, config)}
}

// configOf has a user agent, as every client would otherwise make one: adding the
// header copies each request.
func configOf(url string) *rest.Config {
	return &rest.Config{Host: url, UserAgent: "compare", QPS: -1}
}

// Whichever client reads, it reads the same.
func TestClientsReadTheSame(t *testing.T) {
	one, all := content(t, storedFoo(0)), content(t, storedList())
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			for _, c := range wire.callers(t) {
				for verb, call := range c.calls(t) {
					want := one
					if verb == "list" {
						want = all
					}
					object, err := call(t.Context())
					if err != nil {
						t.Errorf("%s, %s: %v", c.name, verb, err)
					} else if diff := cmp.Diff(want, content(t, object)); diff != "" {
						t.Errorf("%s, %s (-want +got):\n%s", c.name, verb, diff)
					}
				}
			}
		})
	}
}

// Our client takes no more allocations than the generated one. The server's are in
// both figures, and so are a few that pools save by chance: hence the percent. What else
// the process does meanwhile only ever adds: hence several turns, of which the fewest
// count, and more turns as long as ours are more.
func TestClientAllocatesNoMoreThanGenerated(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			calls := map[string]map[string]func(context.Context) (any, error){}
			for _, c := range wire.callers(t) {
				if c.name == "byhand" || c.name == "generated" {
					calls[c.name] = c.calls(t)
				}
			}
			for verb, call := range calls["byhand"] {
				ours, generated := math.Inf(1), math.Inf(1)
				for turn := 0; turn < 3 || turn < 10 && ours > generated*1.01+1; turn++ {
					ours = min(ours, allocs(t, verb, call))
					generated = min(generated, allocs(t, verb, calls["generated"][verb]))
				}
				t.Logf("%s: ours %v, generated %v", verb, ours, generated)
				if ours > generated*1.01+1 {
					t.Errorf("%s takes %v allocations, the generated client's %v", verb, ours, generated)
				}
			}
		})
	}
}

// allocs is how often the process allocates for a call, on average of several.
func allocs(t *testing.T, verb string, call func(context.Context) (any, error)) float64 {
	t.Helper()
	runs := 5
	if verb == "watch" {
		// Events are decoded ahead of whoever takes them: a few more or less.
		runs = 300
	}
	return testing.AllocsPerRun(runs, func() {
		if _, err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
	})
}

// content is an object as a document without its kind, which some clients take away.
func content(t *testing.T, object any) any {
	t.Helper()
	value := document(t, object)
	if fields, ok := value.(map[string]any); ok {
		delete(fields, "apiVersion")
		delete(fields, "kind")
	}
	return value
}
