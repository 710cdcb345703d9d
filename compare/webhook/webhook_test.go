package webhook

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// What the chapter's TestMutate and TestValidate say of its pizzas holds of these: a
// comparison means something only if both decide the same.
func TestSameRules(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	salami := &v1alpha1.Topping{ObjectMeta: metav1.ObjectMeta{Name: "salami"}}
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(salami).Build()
	// The cache does not show the topping yet.
	rules := validator{cached: fake.NewClientBuilder().WithScheme(scheme).Build(), live: live}
	pizza := func(toppings []string) *v1alpha1.Pizza {
		return &v1alpha1.Pizza{Spec: v1alpha1.PizzaSpec{Toppings: toppings}}
	}
	for _, test := range []struct {
		reason        string
		before, after []string
		refused       bool
		toppings      int // after the defaults
	}{
		{"no toppings", nil, nil, false, 3},
		{"a topping", nil, []string{"salami"}, false, 1},
		{"one that does not exist", nil, []string{"salami", "anchovy"}, true, 2},
		{"one that is gone, and was there before", []string{"anchovy"}, []string{"anchovy", "salami"}, false, 2},
		{"all taken off", []string{"salami"}, []string{}, false, 3},
	} {
		after := pizza(test.after)
		_, err := rules.ValidateCreate(t.Context(), after)
		if test.before != nil {
			_, err = rules.ValidateUpdate(t.Context(), pizza(test.before), after)
		}
		if refused := err != nil; refused != test.refused {
			t.Errorf("%s: error %v, want refused %t", test.reason, err, test.refused)
		}
		if err := (defaulter{}).Default(t.Context(), after); err != nil || len(after.Spec.Toppings) != test.toppings {
			t.Errorf("%s: %q (%v), want %d toppings", test.reason, after.Spec.Toppings, err, test.toppings)
		}
	}
}
