//go:build integration

package compare

import (
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// Patches change what they name, and may say what they were made from.
func testPatch(k *kitchen) {
	pizza := k.baked("patch")
	before := copied(pizza)
	pizza.Labels["hot"] = "yes"
	k.must(k.Patch(k.Context(), pizza, client.MergeFrom(before)))
	stale := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	later := copied(before)
	later.Labels["hot"] = "no"
	k.refused("a merge patch of an older version", k.Patch(k.Context(), later, stale), apierrors.IsConflict)
	patch := func(text string) error {
		return k.Patch(k.Context(), pizza, client.RawPatch(types.JSONPatchType, []byte(text)))
	}
	k.must(patch(`[{"op":"test","path":"/metadata/labels/hot","value":"yes"},{"op":"add","path":"/metadata/labels/fresh","value":"yes"}]`))
	k.refused("a JSON patch whose test fails", patch(`[{"op":"test","path":"/metadata/labels/hot","value":"no"}]`), apierrors.IsInvalid)
	k.refused("a strategic merge patch", k.Patch(k.Context(), copied(pizza), client.StrategicMergeFrom(before)), apierrors.IsUnsupportedMediaType)
	want := copied(before)
	want.Labels["hot"], want.Labels["fresh"] = "yes", "yes"
	if diff := cmp.Diff(want.Labels, k.read(pizza).Labels); diff != "" {
		k.Errorf("labels (-want +got):\n%s", diff)
	}
	for _, want := range []controllerutil.OperationResult{controllerutil.OperationResultUpdated, controllerutil.OperationResultNone} {
		done, err := controllerutil.CreateOrPatch(k.Context(), k, pizza, func() error {
			pizza.Spec.Toppings[0].Quantity = 3
			return nil
		})
		if err != nil || done != want {
			k.Errorf("CreateOrPatch: %s, %v, want %s", done, err, want)
		}
	}
}

// Each manager has its own fields of one pizza. What two want is a conflict, unless one
// insists.
func testApply(k *kitchen) {
	apply := func(manager string, portions map[string]int64, options ...client.ApplyOption) error {
		var toppings []any
		for name, quantity := range portions {
			toppings = append(toppings, map[string]any{"name": name, "quantity": quantity})
		}
		pizza := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"toppings": toppings}}}
		pizza.SetGroupVersionKind(restaurant.WithKind("Pizza"))
		pizza.SetNamespace(k.namespace)
		pizza.SetName("apply")
		return k.Apply(k.Context(), client.ApplyConfigurationFromUnstructured(pizza), append(options, client.FieldOwner(manager))...)
	}
	portions := func(want map[string]int32) {
		k.Helper()
		got := map[string]int32{}
		for _, portion := range k.read(k.pizza("apply")).Spec.Toppings {
			got[portion.Name] = portion.Quantity
		}
		if diff := cmp.Diff(want, got); diff != "" {
			k.Errorf("toppings (-want +got):\n%s", diff)
		}
	}
	k.must(apply("alice", map[string]int64{"tomato": 1}))
	k.must(apply("bob", map[string]int64{"salami": 2}))
	portions(map[string]int32{"tomato": 1, "salami": 2})
	k.refused("an apply of another's field", apply("bob", map[string]int64{"salami": 2, "tomato": 3}), apierrors.IsConflict)
	k.must(apply("bob", map[string]int64{"tomato": 3}, client.ForceOwnership))
	portions(map[string]int32{"tomato": 3})
}

// What has a finalizer waits for it. A precondition is kept, and so is what the server alone
// knows: a topping that is in use stays.
func testDelete(k *kitchen) {
	pizza := k.baked("delete")
	wrong := types.UID("another")
	k.refused("a delete of another UID", k.Delete(k.Context(), pizza, client.Preconditions{UID: &wrong}), apierrors.IsConflict)
	tomato := &v1beta1.Topping{ObjectMeta: metav1.ObjectMeta{Name: "tomato"}}
	k.refused("a delete of a topping in use", k.Delete(k.Context(), tomato), apierrors.IsConflict)

	controllerutil.AddFinalizer(pizza, "example.com/wait")
	k.must(k.Update(k.Context(), pizza))
	k.must(k.Delete(k.Context(), pizza, client.Preconditions{UID: &pizza.UID}))
	if pizza = k.read(pizza); pizza.DeletionTimestamp == nil {
		k.Error("no deletionTimestamp while the finalizer is there")
	}
	controllerutil.RemoveFinalizer(pizza, "example.com/wait")
	k.must(k.Update(k.Context(), pizza))
	k.refused("a pizza without its last finalizer", k.Get(k.Context(), client.ObjectKeyFromObject(pizza), pizza), apierrors.IsNotFound)

	k.baked("delete-1")
	k.baked("delete-2")
	k.must(k.DeleteAllOf(k.Context(), &v1beta1.Pizza{}, client.InNamespace(k.namespace), k.mine()))
	var left v1beta1.PizzaList
	k.must(k.List(k.Context(), &left, client.InNamespace(k.namespace), k.mine()))
	if len(left.Items) > 0 {
		k.Errorf("%d pizzas are left", len(left.Items))
	}
}

// A subresource of one's own is read as any other. A status there is none.
func testSubresource(k *kitchen) {
	pizza := k.baked("subresource")
	_, asMap, _ := empty()
	asMap.SetNamespace(pizza.Namespace)
	asMap.SetName(pizza.Name)
	price := &unstructured.Unstructured{}
	k.must(k.SubResource("price").Get(k.Context(), asMap, price))
	if cents, _, err := unstructured.NestedInt64(price.Object, "cents"); err != nil || cents != 50 {
		k.Errorf("price %v (%v), want 50 cents", price.Object, err)
	}
	k.refused("an update of the status", k.Status().Update(k.Context(), pizza), apierrors.IsNotFound)
}
