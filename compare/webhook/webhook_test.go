//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// A comparison means something only if both decide the same: pizzas with these toppings,
// before and after, are allowed or refused by both, and the patches of both do the same.
func TestSameAnswers(t *testing.T) {
	peers := start(t)
	for _, test := range []struct {
		reason        string
		before, after []string
		allowed       bool
		toppings      int // after the patch
	}{
		{"no toppings", nil, nil, true, 3},
		{"an empty list", nil, []string{}, true, 3},
		{"a topping", nil, []string{"salami"}, true, 1},
		{"one that does not exist", nil, []string{"salami", "anchovy"}, false, 2},
		{"one that is gone, and was there before", []string{"anchovy"}, []string{"anchovy", "salami"}, true, 2},
		{"all taken off", []string{"salami"}, []string{}, true, 3},
	} {
		for _, p := range peers {
			body, object := review(t, test.before, test.after)
			if response := p.ask(t, p.validate, body); response.Allowed != test.allowed {
				t.Errorf("%s, %s: allowed is %t, want %t", test.reason, p.name, response.Allowed, test.allowed)
			}
			var want, got v1alpha1.Pizza
			unmarshal(t, object, &want)
			want.Spec.Toppings = append(want.Spec.Toppings, []string{"tomato", "mozzarella", "salami"}[:test.toppings-len(test.after)]...)
			unmarshal(t, patched(t, object, p.ask(t, p.mutate, body).Patch), &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: the patched pizza (-want +got):\n%s", test.reason, p.name, diff)
			}
		}
	}
}

// review is an AdmissionReview as the API server sends it, and the object in it. Without
// before it is about a new pizza.
func review(t *testing.T, before, after []string) (body, object []byte) {
	t.Helper()
	raw := func(toppings []string) []byte {
		return marshal(t, &v1alpha1.Pizza{
			TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Pizza"},
			ObjectMeta: metav1.ObjectMeta{Name: "example", Namespace: "default", UID: "5b1f", Generation: 1,
				Labels: map[string]string{"app.kubernetes.io/name": "example"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl-create", Operation: "Update", FieldsType: "FieldsV1",
					APIVersion: v1alpha1.SchemeGroupVersion.String(),
					FieldsV1:   metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{".":{},"f:toppings":{}}}`)}}},
			Spec: v1alpha1.PizzaSpec{Toppings: toppings},
		})
	}
	object = raw(after)
	request := &admissionv1.AdmissionRequest{
		UID:       "705ab4f5-6393-11e8-b7cc-42010a800002",
		Kind:      metav1.GroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Pizza")),
		Resource:  metav1.GroupVersionResource(v1alpha1.SchemeGroupVersion.WithResource("pizzas")),
		Name:      "example",
		Namespace: "default",
		Operation: admissionv1.Create,
		Object:    runtime.RawExtension{Raw: object},
	}
	request.UserInfo.Username, request.UserInfo.Groups = "admin", []string{"system:masters", "system:authenticated"}
	if before != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, raw(before)
	}
	return marshal(t, &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	}), object
}

// ask sends a review and returns the response.
func (p *peer) ask(t *testing.T, url string, body []byte) *admissionv1.AdmissionResponse {
	response, err := p.post(t.Context(), url, body)
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
		return &admissionv1.AdmissionResponse{}
	}
	return response
}

func (p *peer) post(ctx context.Context, url string, body []byte) (*admissionv1.AdmissionResponse, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"?timeout=10s", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &review); err != nil || review.Response == nil {
		return nil, fmt.Errorf("%s %s (%w)", answer.Status, text, err)
	}
	return review.Response, nil
}

// patched applies a JSON Patch, if there is one.
func patched(t *testing.T, object, patch []byte) []byte {
	t.Helper()
	if patch == nil {
		return object
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatal(err)
	}
	result, err := operations.Apply(object)
	if err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	return result
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func unmarshal(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
