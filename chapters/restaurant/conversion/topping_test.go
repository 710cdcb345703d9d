package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/chapters/restaurant/conversion"
	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// A topping says the same in both versions, and a converted one shares no memory.
func TestTopping(t *testing.T) {
	before := &v1alpha1.Topping{
		ObjectMeta: metav1.ObjectMeta{Name: "salami", Labels: map[string]string{"a": "b"}},
		Spec:       v1alpha1.ToppingSpec{Cost: 150},
	}
	converted := conversion.ToppingToV1beta1(before)
	if diff := cmp.Diff(before, conversion.ToppingToV1alpha1(converted)); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}
	converted.Labels["a"] = "c"
	if before.Labels["a"] != "b" {
		t.Error("the labels are shared")
	}
}
