package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"

	"example.com/byhand/clientset"
)

// These benchmarks hold our client against the others that a controller can use,
// over our types and the same replies. The server runs in the same process: what it
// allocates is in every figure, and client=bare shows how much that is.

func BenchmarkGet(b *testing.B) {
	eachClient(b, func(b *testing.B, c caller) { call(b, c.get) })
}

func BenchmarkList500(b *testing.B) {
	eachClient(b, func(b *testing.B, c caller) { call(b, c.list) })
}

func BenchmarkCreate(b *testing.B) {
	eachClient(b, func(b *testing.B, c caller) { call(b, c.create) })
}

func BenchmarkUpdateStatus(b *testing.B) {
	eachClient(b, func(b *testing.B, c caller) { call(b, c.updateStatus) })
}

// One iteration is one event of a stream that does not end.
func BenchmarkWatchEvent(b *testing.B) {
	eachClient(b, func(b *testing.B, c caller) {
		if c.watch == nil {
			b.Skip("no watch")
		}
		stream, err := c.watch(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer stream.Stop()
		for b.Loop() {
			if event := <-stream.ResultChan(); event.Type != watch.Modified {
				b.Fatalf("received %+v", event)
			}
		}
	})
}

func call(b *testing.B, verb func(context.Context) (any, error)) {
	ctx := b.Context()
	// The first call opens the connection.
	if _, err := verb(ctx); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := verb(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// eachClient runs a benchmark for each client, with JSON and with CBOR. Who is first
// finds another heap than who is last, so each run of the program draws an order:
// several runs say more than one with a large -count.
func eachClient(b *testing.B, run func(*testing.B, caller)) {
	for _, wire := range wires {
		b.Run("wire="+wire.name, func(b *testing.B) {
			callers := wire.callers(b)
			rand.Shuffle(len(callers), func(i, j int) { callers[i], callers[j] = callers[j], callers[i] })
			for _, c := range callers {
				b.Run("client="+c.name, func(b *testing.B) {
					b.ReportAllocs()
					run(b, c)
				})
			}
		})
	}
}

// wires are the encodings that are compared, and how to get the clients that know
// them, each connected to a server of its own.
var wires = []struct {
	name    string
	callers func(testing.TB) []caller
}{{"json", jsonCallers}, {"cbor", cborCallers}}

func jsonCallers(tb testing.TB) []caller {
	r := newReplies(tb, "application/json", "application/json")
	config := configOf(r.serve(tb))
	return []caller{
		byHand(clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1()),
		generated(tb, config),
		dynamicClient(tb, config),
		controllerRuntime(tb, config),
		bare(config.Host, r),
	}
}

// configOf has a user agent, as every client would otherwise make one: adding the
// header copies each request.
func configOf(url string) *rest.Config {
	return &rest.Config{Host: url, UserAgent: "compare", QPS: -1}
}

// cborCallers needs two feature gates of client-go, and a real API server needs
// CBORServingAndStorage: all are alpha and off in v0.37. controller-runtime is
// missing: its typed client always makes its own codecs, without CBOR
// (pkg/client/client.go).
func cborCallers(tb testing.TB) []caller {
	featurestesting.SetFeatureDuringTest(tb, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(tb, features.ClientsPreferCBOR, true)
	r := newReplies(tb, "application/cbor", "application/cbor-seq")
	config := configOf(r.serve(tb))
	return []caller{
		byHand(clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1()),
		generated(tb, config),
		dynamicClient(tb, config),
		bare(config.Host, r),
	}
}

// A comparison of clients means something only if all of them read the same.
func TestClientsReadTheSame(t *testing.T) {
	one, all := content(t, storedFoo(0)), content(t, storedList())
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			for _, c := range wire.callers(t) {
				if c.watch == nil {
					continue // reads bytes
				}
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
