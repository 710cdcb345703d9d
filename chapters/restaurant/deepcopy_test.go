package restaurant_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/chapters/restaurant/v1alpha1"
	"example.com/byhand/chapters/restaurant/v1beta1"
	"example.com/byhand/kit/deepcopy"
)

// TestDeepCopy: a copy shares no memory with its original, and nil and empty stay different. A JSON round
// trip loses nothing.
func TestDeepCopy(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.AddKnownTypes(v1beta1.SchemeGroupVersion, &v1beta1.Pizza{})
	for _, test := range []func(*testing.T, *runtime.Scheme){deepcopy.EqualsOriginal, deepcopy.SharesNoMemory, deepcopy.KeepsNilAndEmpty, deepcopy.OfNil, deepcopy.RoundTrip} {
		test(t, scheme)
	}
}
