package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
)

// kitchen is a reviewer with some toppings. It records which names are looked up.
type kitchen struct {
	*reviewer
	asked []string
	lines string
}

func newKitchen(toppings ...string) *kitchen {
	k := &kitchen{}
	k.reviewer = &reviewer{
		has: func(_ context.Context, name string) (bool, error) {
			k.asked = append(k.asked, name)
			if name == "unknowable" {
				return false, errors.New("no API server")
			}
			return slices.Contains(toppings, name), nil
		},
		said: func(format string, args ...any) { k.lines += fmt.Sprintf(format, args...) },
	}
	return k
}

func (k *kitchen) post(path, body string) (code int, answer string) {
	request, recorder := httptest.NewRequest("POST", path+"?timeout=5s", strings.NewReader(body)), httptest.NewRecorder()
	request.Header.Set("Content-Type", "application/json")
	k.handler().ServeHTTP(recorder, request)
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

// reviewOf returns an AdmissionReview as the API server sends it. old is the object before the
// change, "" if there was no object.
func reviewOf(operation, object, old string) string {
	if old == "" {
		old = "null"
	}
	return fmt.Sprintf(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u1",
		"kind":{"group":"restaurant.programming-kubernetes.info","version":"v1alpha1","kind":"Pizza"},
		"resource":{"group":"restaurant.programming-kubernetes.info","version":"v1alpha1","resource":"pizzas"},
		"namespace":"default","name":"p","operation":%q,"userInfo":{"username":"me"},"object":%s,"oldObject":%s,"dryRun":true}}`,
		operation, object, old)
}

func pizza(toppings ...string) string {
	list, err := json.Marshal(toppings)
	if err != nil {
		panic(err)
	}
	return `{"apiVersion":"restaurant.programming-kubernetes.info/v1alpha1","kind":"Pizza","metadata":{"name":"p"},"spec":{"toppings":` + string(list) + `}}`
}

// decided decodes a response. It must have the expected kind and uid, whatever the decision is.
func decided(t *testing.T, code int, answer string) *admissionv1.AdmissionResponse {
	t.Helper()
	var review admissionv1.AdmissionReview
	decoder := json.NewDecoder(strings.NewReader(answer))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&review); err != nil || code != 200 || review.Response == nil {
		t.Fatalf("code %d, answer %s, error %v", code, answer, err)
	}
	if review.APIVersion != "admission.k8s.io/v1" || review.Kind != "AdmissionReview" || review.Response.UID != "u1" || review.Request != nil {
		t.Errorf("answer %s, want an AdmissionReview v1 with the uid and no request", answer)
	}
	return review.Response
}

// TestMutate: a pizza without toppings gets three, and nothing else changes.
func TestMutate(t *testing.T) {
	const three = `["tomato","mozzarella","salami"]`
	const list, spec = `[{"op":"add","path":"/spec/toppings","value":` + three + `}]`, `[{"op":"add","path":"/spec","value":{"toppings":` + three + `}}]`
	for _, test := range []struct{ reason, object, patch string }{
		{"no toppings", `{"spec":{}}`, list},
		{"an empty list", `{"spec":{"toppings":[]}}`, list},
		{"fields that no Go type has", `{"spec":{"size":30},"status":{"a":1}}`, list},
		{"no spec", `{}`, spec},
		{"a topping", pizza("basil"), ""},
	} {
		code, answer := newKitchen().post(mutatePath, reviewOf("CREATE", test.object, ""))
		response := decided(t, code, answer)
		if !response.Allowed || string(response.Patch) != test.patch || (response.PatchType != nil) != (test.patch != "") {
			t.Errorf("%s: %s with patch %s, want allowed with %s", test.reason, answer, response.Patch, test.patch)
		}
	}
}

// TestValidate: the rejection names the first topping that does not exist. Toppings that the
// pizza already has are not looked up.
func TestValidate(t *testing.T) {
	for _, test := range []struct {
		reason, object, old string
		refused             string   // "" if allowed
		asked               []string // the names that are looked up
	}{
		{"toppings that exist", pizza("tomato", "salami"), "", "", []string{"tomato", "salami"}},
		{"a topping twice", pizza("tomato", "tomato"), "", "", []string{"tomato"}},
		{"no spec", `{}`, "", "", nil},
		{"a topping that does not exist", pizza("tomato", "pineapple", "salami"), "", `there is no topping "pineapple"`, []string{"tomato", "pineapple"}},
		{"an added topping that exists", pizza("pineapple", "tomato"), pizza("pineapple"), "", []string{"tomato"}},
		{"an added topping that does not exist", pizza("pineapple", "anchovy"), pizza("pineapple"), `there is no topping "anchovy"`, []string{"anchovy"}},
		{"toppings that are not a list", `{"spec":{"toppings":"salami"}}`, "", "the toppings cannot be read", nil},
	} {
		k := newKitchen("tomato", "salami")
		code, answer := k.post(validatePath, reviewOf("UPDATE", test.object, test.old))
		response := decided(t, code, answer)
		if response.Patch != nil || response.PatchType != nil {
			t.Errorf("%s: a validating webhook may not patch: %s", test.reason, answer)
		}
		if diff := cmp.Diff(test.asked, k.asked); diff != "" {
			t.Errorf("%s: looked up (-want +got):\n%s", test.reason, diff)
		}
		switch {
		case test.refused == "":
			if !response.Allowed || response.Result != nil {
				t.Errorf("%s: %s, want allowed", test.reason, answer)
			}
		case response.Allowed || response.Result == nil || response.Result.Code != 422 || !strings.Contains(response.Result.Message, test.refused):
			t.Errorf("%s: %.300s, want a rejection with 422 and %.150s", test.reason, answer, test.refused)
		}
	}
}

// TestBadReviews has requests that no API server sends, or only with a registration that is too broad.
func TestBadReviews(t *testing.T) {
	good := reviewOf("CREATE", pizza("tomato"), "")
	for _, test := range []struct {
		reason, body string
		code         int
		answer       string
	}{
		{"no JSON", "{", 400, "not an AdmissionReview"},
		{"another kind", strings.Replace(good, "AdmissionReview", "ConversionReview", 1), 400, "ConversionReview"},
		{"another resource", strings.Replace(good, `"pizzas"`, `"toppings"`, 1), 400, "registered for more"},
		{"a topping whose existence is unknown", reviewOf("CREATE", pizza("unknowable"), ""), 500, "no API server"},
		{"a deletion", reviewOf("DELETE", "null", pizza("pineapple")), 200, `"allowed":true`},
	} {
		k := newKitchen("tomato")
		code, answer := k.post(validatePath, test.body)
		if code != test.code || !strings.Contains(answer, test.answer) || len(k.lines) > 1000 {
			t.Errorf("%s: %d %.200s, want %d with %s, and the log %.200s", test.reason, code, answer, test.code, test.answer, k.lines)
		}
	}
}
