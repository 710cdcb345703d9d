package restaurant_test

import (
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
)

// TestRoundTrip lets apimachinery's own test loose on the kinds of both versions: a copy
// shares no memory with its original, and JSON and back loses nothing.
func TestRoundTrip(t *testing.T) {
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		scheme := runtime.NewScheme()
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
		codecs := serializer.NewCodecFactory(scheme)
		random := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
		roundtrip.RoundTripExternalTypesWithoutProtobuf(t, scheme, codecs, random, nil)
	}
}

// nil stays nil and empty stays empty: they differ on the wire.
func TestDeepCopyKeepsNilAndEmpty(t *testing.T) {
	for _, toppings := range [][]string{nil, {}} {
		copied := (&v1alpha1.Pizza{Spec: v1alpha1.PizzaSpec{Toppings: toppings}}).DeepCopyObject().(*v1alpha1.Pizza)
		if (copied.Spec.Toppings == nil) != (toppings == nil) {
			t.Errorf("v1alpha1: the copy of %#v is %#v", toppings, copied.Spec.Toppings)
		}
	}
	for _, toppings := range [][]v1beta1.PizzaTopping{nil, {}} {
		copied := (&v1beta1.Pizza{Spec: v1beta1.PizzaSpec{Toppings: toppings}}).DeepCopyObject().(*v1beta1.Pizza)
		if (copied.Spec.Toppings == nil) != (toppings == nil) {
			t.Errorf("v1beta1: the copy of %#v is %#v", toppings, copied.Spec.Toppings)
		}
	}
	for _, null := range []runtime.Object{
		(*v1alpha1.Pizza)(nil), (*v1alpha1.PizzaList)(nil), (*v1alpha1.Topping)(nil), (*v1alpha1.ToppingList)(nil),
		(*v1beta1.Pizza)(nil), (*v1beta1.PizzaList)(nil), (*v1beta1.Topping)(nil), (*v1beta1.ToppingList)(nil),
	} {
		if null.DeepCopyObject() != nil {
			t.Errorf("the copy of a nil %T is not nil", null)
		}
	}
}
