package conversion_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

type toppings = []v1beta1.PizzaTopping

func of(name string, quantity int32) v1beta1.PizzaTopping {
	return v1beta1.PizzaTopping{Name: name, Quantity: quantity}
}

// TestPizza converts a v1alpha1 pizza to v1beta1 and back.
func TestPizza(t *testing.T) {
	for _, test := range []struct {
		reason string
		names  []string
		want   toppings
		// annotated: v1beta1 cannot express the list.
		annotated bool
	}{
		{"nothing", nil, nil, false},
		{"an empty list", []string{}, toppings{}, false},
		{"each once", []string{"tomato", "salami"}, toppings{of("tomato", 1), of("salami", 1)}, false},
		{"twice, side by side", []string{"tomato", "salami", "salami"}, toppings{of("tomato", 1), of("salami", 2)}, false},
		{"twice, apart", []string{"salami", "tomato", "salami"}, toppings{of("salami", 2), of("tomato", 1)}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			before := &v1alpha1.Pizza{Spec: v1alpha1.PizzaSpec{Toppings: test.names}}
			converted := conversion.PizzaToV1beta1(before)
			if diff := cmp.Diff(test.want, converted.Spec.Toppings); diff != "" {
				t.Errorf("in v1beta1 (-want +got):\n%s", diff)
			}
			if annotated := converted.Annotations != nil; annotated != test.annotated {
				t.Errorf("annotations %v", converted.Annotations)
			}
			if diff := cmp.Diff(before, conversion.PizzaToV1alpha1(converted)); diff != "" {
				t.Errorf("and back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInvalid: a huge invalid quantity does not fill the memory: the result has each name once.
func TestInvalid(t *testing.T) {
	before := &v1beta1.Pizza{Spec: v1beta1.PizzaSpec{Toppings: toppings{of("salami", 1_000_000_000), of("tomato", -1)}}}
	if diff := cmp.Diff([]string{"salami", "tomato"}, conversion.PizzaToV1alpha1(before).Spec.Toppings); diff != "" {
		t.Errorf("in v1alpha1 (-want +got):\n%s", diff)
	}
}

// TestRoundTrips: converting a valid pizza and converting it back changes nothing, and a valid v1alpha1
// pizza becomes a valid v1beta1 pizza. The same holds in JSON, where nil and empty differ.
func TestRoundTrips(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		first := &v1alpha1.Pizza{ObjectMeta: randomMeta(random)}
		second := &v1beta1.Pizza{ObjectMeta: randomMeta(random)}
		if random.IntN(10) == 0 {
			first.Spec.Toppings, second.Spec.Toppings = []string{}, toppings{}
		}
		names := []string{"tomato", "mozzarella", "salami", "basil", "<\"é\u2028"}
		for range random.IntN(v1beta1.MaxQuantity + 1) {
			first.Spec.Toppings = append(first.Spec.Toppings, names[random.IntN(len(names))])
		}
		for _, i := range random.Perm(len(names))[:random.IntN(len(names))] {
			second.Spec.Toppings = append(second.Spec.Toppings, of(names[i], int32(random.IntN(4)+1)))
		}
		there := overTheWire(t, conversion.PizzaToV1beta1(first))
		if diff := cmp.Diff(first, overTheWire(t, conversion.PizzaToV1alpha1(there))); diff != "" {
			t.Fatalf("v1alpha1 → v1beta1 → v1alpha1 (-want +got):\n%s", diff)
		}
		portions, seen := 0, map[string]bool{}
		for _, topping := range there.Spec.Toppings {
			if topping.Quantity < 1 || seen[topping.Name] {
				t.Fatalf("%q becomes %v: each name once, with a quantity", first.Spec.Toppings, there.Spec.Toppings)
			}
			seen[topping.Name] = true
			portions += int(topping.Quantity)
		}
		if portions != len(first.Spec.Toppings) {
			t.Fatalf("%q becomes %d portions", first.Spec.Toppings, portions)
		}
		back := overTheWire(t, conversion.PizzaToV1alpha1(second))
		if diff := cmp.Diff(second, overTheWire(t, conversion.PizzaToV1beta1(back))); diff != "" {
			t.Fatalf("v1beta1 → v1alpha1 → v1beta1 (-want +got):\n%s", diff)
		}
	}
}

func randomMeta(random *rand.Rand) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: "pizza", Namespace: "restaurant", UID: "1"}
	if random.IntN(2) == 0 {
		meta.Annotations = map[string]string{"example.com/table": "7"}
	}
	return meta
}

// overTheWire returns an object after a JSON round trip.
func overTheWire[T any](t *testing.T, object *T) *T {
	t.Helper()
	sent, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	received := new(T)
	if err := json.Unmarshal(sent, received); err != nil {
		t.Fatal(err)
	}
	return received
}

// TestForgedAnnotations: any client may write the annotation, or change the spec below it. If they do not
// match, the spec wins and the annotation is dropped.
func TestForgedAnnotations(t *testing.T) {
	const annotation = "v1alpha1.restaurant.programming-kubernetes.info/toppings"
	want := &v1alpha1.Pizza{Spec: v1alpha1.PizzaSpec{Toppings: []string{"salami"}}}
	for _, forged := range []string{"{", `["salami","tomato"]`} {
		meta := metav1.ObjectMeta{Annotations: map[string]string{annotation: forged}}
		back := conversion.PizzaToV1alpha1(&v1beta1.Pizza{ObjectMeta: meta, Spec: v1beta1.PizzaSpec{Toppings: toppings{of("salami", 1)}}})
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("%s, to v1alpha1 (-want +got):\n%s", forged, diff)
		}
	}

	// In a v1alpha1 object the annotation is ignored: the list has the order.
	names := []string{"salami", "salami", "tomato"}
	before := &v1alpha1.Pizza{Spec: v1alpha1.PizzaSpec{Toppings: names}}
	before.Annotations = map[string]string{annotation: `["salami","tomato","salami"]`}
	after := conversion.PizzaToV1alpha1(conversion.PizzaToV1beta1(before))
	if diff := cmp.Diff(names, after.Spec.Toppings); diff != "" {
		t.Errorf("an order that a client has forged (-want +got):\n%s", diff)
	}
}
