package main

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/chapters/internal/webhook"
)

// post sends a body to the webhook like the API server does, and returns the response. The log must
// be short, whatever a client sends.
func post(t *testing.T, body string) *httptest.ResponseRecorder {
	t.Helper()
	var lines bytes.Buffer
	request, answer := httptest.NewRequest(http.MethodPost, "/convert?timeout=30s", strings.NewReader(body)), httptest.NewRecorder()
	request.Header.Set("Content-Type", "application/json")
	webhook.Review((&converter{log.New(&lines, "", 0)}).review).ServeHTTP(answer, request)
	if lines.Len() > 1000 {
		t.Errorf("%d bytes are logged: %.200s", lines.Len(), lines.String())
	}
	return answer
}

func review(desired string, objects ...string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1","desiredAPIVersion":"` + desired + `","objects":[` + strings.Join(objects, ",") + `]}}`
}

const (
	group = "restaurant.programming-kubernetes.info"
	alpha = `{"apiVersion":"` + group + `/v1alpha1","kind":"Pizza","metadata":{"name":"a","namespace":"ns","uid":"1","labels":{"l":"v"},"annotations":{"a":"b"}},"spec":{"toppings":["salami","tomato","salami"]}}`
	beta  = `{"apiVersion":"` + group + `/v1beta1","kind":"Pizza","metadata":{"name":"b","namespace":"ns","uid":"2"},"spec":{"toppings":[{"name":"salami","quantity":2}]}}`
)

// TestReview: each object is returned in its place, in the desired version, with the fields that the
// API server compares.
func TestReview(t *testing.T) {
	for _, test := range []struct{ reason, body, want string }{
		{"to v1beta1", review(group+"/v1beta1", alpha), `[
			{"apiVersion":"` + group + `/v1beta1","kind":"Pizza","metadata":{"name":"a","namespace":"ns","uid":"1","labels":{"l":"v"},
				"annotations":{"a":"b","v1alpha1.` + group + `/toppings":"[\"salami\",\"tomato\",\"salami\"]"}},
			 "spec":{"toppings":[{"name":"salami","quantity":2},{"name":"tomato","quantity":1}]}}]`},
		{"to v1alpha1, two in their order", review(group+"/v1alpha1", beta, strings.ReplaceAll(beta, `"b"`, `"c"`)), `[
			{"apiVersion":"` + group + `/v1alpha1","kind":"Pizza","metadata":{"name":"b","namespace":"ns","uid":"2"},"spec":{"toppings":["salami","salami"]}},
			{"apiVersion":"` + group + `/v1alpha1","kind":"Pizza","metadata":{"name":"c","namespace":"ns","uid":"2"},"spec":{"toppings":["salami","salami"]}}]`},
		{"none", review(group + "/v1beta1"), `null`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			answer := post(t, test.body)
			want := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u1","convertedObjects":` + test.want + `,"result":{"metadata":{},"status":"Success"}}}`
			if answer.Code != http.StatusOK {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
			if diff := cmp.Diff(decode(t, want), decode(t, answer.Body.String())); diff != "" {
				t.Errorf("the response (-want +got):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

// TestFailure: a failed conversion yields a response with Failure, a reason and no objects. The API
// server reads it only with 200.
func TestFailure(t *testing.T) {
	for reason, body := range map[string]string{
		"object 1: the kind is":           review(group+"/v1beta1", alpha, strings.ReplaceAll(alpha, "Pizza", strings.Repeat("Calzone", 1000))),
		"object 0: cannot convert":        review(group+"/v2", alpha),
		"object 0: json: cannot unmarsha": review(group+"/v1beta1", strings.ReplaceAll(alpha, `["salami","tomato","salami"]`, "7")),
	} {
		answer := post(t, body)
		got := struct {
			Response struct {
				UID              string
				ConvertedObjects []any
				Result           struct{ Status, Message string }
			}
		}{}
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != http.StatusOK {
			t.Errorf("%d, %v: %s", answer.Code, err, answer.Body)
			continue
		}
		result := got.Response.Result
		if got.Response.UID != "u1" || result.Status != "Failure" || !strings.HasPrefix(result.Message, reason) || got.Response.ConvertedObjects != nil {
			t.Errorf("%+v, want Failure because %s", got, reason)
		}
	}
}

// TestNoReview: a body that is not a review is rejected before anything is converted.
func TestNoReview(t *testing.T) {
	for reason, body := range map[string]string{
		"another kind": strings.Replace(review(group+"/v1beta1", alpha), "ConversionReview", "AdmissionReview", 1),
		"no request":   `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`,
	} {
		if answer := post(t, body); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want 400", reason, answer.Code, answer.Body)
		}
	}
}
