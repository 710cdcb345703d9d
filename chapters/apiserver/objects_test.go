package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The same pizza in both versions, with what the server adds.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.bake("twice", "salami", "tomato", "salami")
	got := w.must(http.StatusOK, "GET", beta+inDefault+"/twice", "")
	want := []any{map[string]any{"name": "salami", "quantity": 2.0}, map[string]any{"name": "tomato", "quantity": 1.0}}
	if diff := cmp.Diff(want, got.get("spec.toppings")); diff != "" {
		t.Errorf("in v1beta1 (-want +got):\n%s", diff)
	}
	if got.get("apiVersion") != group+"/v1beta1" || got.get("kind") != "Pizza" {
		t.Errorf("it says that it is a %v %v", got.get("apiVersion"), got.get("kind"))
	}
	got = w.must(http.StatusOK, "GET", alpha+inDefault+"/twice", "")
	if diff := cmp.Diff([]any{"salami", "tomato", "salami"}, got.get("spec.toppings")); diff != "" {
		t.Errorf("in v1alpha1 (-want +got):\n%s", diff)
	}
	for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
		if got.get("metadata."+field) == nil {
			t.Errorf("metadata.%s is empty", field)
		}
	}
	if generation := got.get("metadata.generation"); generation != 1.0 {
		t.Errorf("generation %v, want 1", generation)
	}
	// Defaults.
	w.bake("plain")
	got = w.must(http.StatusOK, "GET", alpha+inDefault+"/plain", "")
	if diff := cmp.Diff([]any{"tomato", "mozzarella", "salami"}, got.get("spec.toppings")); diff != "" {
		t.Errorf("without toppings (-want +got):\n%s", diff)
	}
}

// A price is of one moment, and only pizzas have one.
func TestPrice(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.bake("twice", "salami", "tomato", "salami")
	if cents := w.must(http.StatusOK, "GET", beta+inDefault+"/twice/price", "").get("cents"); cents != 350.0 {
		t.Errorf("it costs %v, want 350", cents)
	}
	w.must(http.StatusNotFound, "GET", beta+inDefault+"/none/price", "")
	w.must(http.StatusNotFound, "GET", beta+"toppings/salami/price", "")
	w.must(http.StatusNotFound, "GET", beta+inDefault+"/twice/scale", "")
	w.must(http.StatusMethodNotAllowed, "DELETE", beta+inDefault+"/twice/price", "")
}

// Each bad request is refused with the code that clients know, and says why.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.bake("a", "tomato")
	deep := `{"metadata":{"annotations":{"x":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + "}}}"
	const topping = `{"metadata":{"name":"basil"},"spec":{"cost":1}}`
	version := w.must(http.StatusOK, "GET", beta+"toppings/tomato", "").get("metadata.resourceVersion")
	for _, test := range []struct {
		reason, method, path, body string
		code                       int
		want                       string
		header                     []string
	}{
		{"a namespace that is not there", "POST", beta + "namespaces/nowhere/pizzas", `{"metadata":{"name":"b"}}`, 404, "nowhere", nil},
		{"a namespace that goes", "POST", beta + "namespaces/going/pizzas", `{"metadata":{"name":"b"}}`, 403, "being terminated", nil},
		{"another namespace", "POST", beta + inDefault, `{"metadata":{"name":"b","namespace":"other"}}`, 400, "does not match", nil},
		{"no name", "POST", beta + "toppings", `{"spec":{"cost":1}}`, 422, "name", nil},
		{"a name that is none", "POST", beta + "toppings", `{"metadata":{"name":"A B"},"spec":{"cost":1}}`, 422, "metadata.name", nil},
		{"it exists", "POST", beta + "toppings", `{"metadata":{"name":"tomato"},"spec":{"cost":1}}`, 409, "already exists", nil},
		{"a version for a new object", "POST", beta + "toppings", `{"metadata":{"name":"basil","resourceVersion":"1"}}`, 400, "resourceVersion", nil},
		{"another kind", "POST", beta + "toppings", `{"kind":"Pizza","apiVersion":"` + group + `/v1beta1","metadata":{"name":"b"}}`, 400, "Pizza", nil},
		{"another group", "POST", beta + "toppings", `{"kind":"Topping","apiVersion":"v1","metadata":{"name":"b"}}`, 400, "", nil},
		{"no JSON", "POST", beta + "toppings", `{`, 400, "", nil},
		{"a list", "POST", beta + "toppings", `[]`, 400, "", nil},
		{"a number as text", "POST", beta + "toppings", `{"metadata":{"name":"b"},"spec":{"cost":"1"}}`, 400, "cost", nil},
		{"a negative cost", "POST", beta + "toppings", `{"metadata":{"name":"b"},"spec":{"cost":-1}}`, 422, "negative", nil},
		{"an unknown topping", "POST", alpha + inDefault, `{"metadata":{"name":"b"},"spec":{"toppings":["pineapple"]}}`, 422, "pineapple", nil},
		{"a topping twice", "POST", beta + inDefault, `{"metadata":{"name":"b"},"spec":{"toppings":[{"name":"tomato","quantity":1},{"name":"tomato","quantity":1}]}}`, 422, "Duplicate", nil},
		{"too much", "POST", beta + inDefault, `{"metadata":{"name":"b"},"spec":{"toppings":[{"name":"tomato","quantity":11},{"name":"salami","quantity":10}]}}`, 422, "at most 20 portions", nil},
		{"protobuf", "POST", beta + "toppings", "k8s", 415, "application/json", []string{"Content-Type", "application/vnd.kubernetes.protobuf"}},
		{"nothing but protobuf", "GET", beta + "toppings", "", 406, "JSON", []string{"Accept", "application/vnd.kubernetes.protobuf"}},
		{"strategic merge patch", "PATCH", beta + "toppings/tomato", "{}", 415, "merge-patch", []string{"Content-Type", "application/strategic-merge-patch+json"}},
		{"too long", "POST", beta + "toppings", strings.Repeat(" ", maxBody+1), 413, "limit", nil},
		{"too deep", "POST", beta + "toppings", deep, 400, "nests deeper", nil},
		{"a merge patch that is too deep", "PATCH", beta + "toppings/tomato", deep, 400, "nests deeper", []string{"Content-Type", mergeType}},
		{"hundreds of mistakes", "POST", beta + "toppings", `{"metadata":{"name":"b","ownerReferences":[{}` + strings.Repeat(",{}", 400) + "]}}", 422, "name: Required", nil},
		{"a JSON Patch", "PATCH", beta + "toppings/tomato", "[]", 415, "merge-patch", []string{"Content-Type", "application/json-patch+json"}},
		{"a PUT without version", "PUT", beta + "toppings/tomato", `{"metadata":{"name":"tomato"},"spec":{"cost":1}}`, 422, "resourceVersion", nil},
		{"a PUT with an old version", "PUT", beta + "toppings/tomato", `{"metadata":{"name":"tomato","resourceVersion":"999"},"spec":{"cost":1}}`, 409, "modified", nil},
		{"a PUT that renames", "PUT", beta + "toppings/tomato", fmt.Sprintf(`{"metadata":{"name":"basil","resourceVersion":%q},"spec":{"cost":1}}`, version), 400, "does not match", nil},
		{"a PUT with another UID", "PUT", beta + "toppings/tomato", fmt.Sprintf(`{"metadata":{"name":"tomato","uid":"1","resourceVersion":%q},"spec":{"cost":1}}`, version), 409, "UID", nil},
		{"a PUT of nothing", "PUT", beta + "toppings/basil", `{"metadata":{"name":"basil","resourceVersion":"1"},"spec":{"cost":1}}`, 404, "not found", nil},
		{"a patch that renames", "PATCH", beta + "toppings/tomato", `{"metadata":{"name":"basil"}}`, 400, "does not match", []string{"Content-Type", mergeType}},
		{"a patch of nothing", "PATCH", beta + "toppings/basil", `{}`, 404, "not found", []string{"Content-Type", mergeType}},
		{"a topping in use", "DELETE", beta + "toppings/tomato", "", 409, "pizza default/a has it", nil},
		{"another UID", "DELETE", beta + inDefault + "/a", `{"preconditions":{"uid":"1"}}`, 409, "UID", nil},
		{"another version", "DELETE", beta + inDefault + "/a", `{"preconditions":{"resourceVersion":"999"}}`, 409, "modified", nil},
		{"an unknown policy", "DELETE", beta + inDefault + "/a?propagationPolicy=Later", "", 422, "Later", nil},
		{"a dry run of some", "POST", beta + "toppings?dryRun=Some", topping, 422, "Some", nil},
		{"an unknown validation", "POST", beta + "toppings?fieldValidation=Perhaps", topping, 422, "Perhaps", nil},
		{"a version that is no number", "GET", beta + "toppings?resourceVersion=x", "", 400, "x", nil},
		{"a version that has not been", "GET", beta + "toppings?resourceVersion=9223372036854775807", "", 504, "Too large", nil},
		{"a version that has not been, of one", "GET", beta + "toppings/tomato?resourceVersion=9223372036854775807", "", 504, "Too large", nil},
		{"a watch from the future", "GET", beta + "toppings?watch=true&resourceVersion=9223372036854775807", "", 504, "Too large", nil},
		{"initial events without match", "GET", beta + "toppings?watch=true&sendInitialEvents=true", "", 422, "resourceVersionMatch", nil},
		{"a selector that is none", "GET", beta + "toppings?labelSelector=%21%21", "", 400, "", nil},
		{"a field that has no selector", "GET", beta + "toppings?fieldSelector=spec.cost%3D1", "", 400, "spec.cost", nil},
		{"a forged continue", "GET", beta + "toppings?limit=1&continue=x", "", 400, "continue", nil},
		{"a list of the past", "GET", beta + "toppings?resourceVersionMatch=Exact&resourceVersion=1", "", 410, "past", nil},
		{"a watch from before the start", "GET", beta + "toppings?watch=true&resourceVersion=1", "", 410, "too old", nil},
		{"a merge patch that is no object", "PATCH", beta + "toppings/tomato", "[]", 400, "", []string{"Content-Type", mergeType}},
		{"a merge patch that is null", "PATCH", beta + "toppings/tomato", "null", 400, "", []string{"Content-Type", mergeType}},
		{"an unknown method", "POST", beta + "toppings/tomato", topping, 405, "", nil},
		{"a pizza without namespace", "GET", beta + "pizzas/a", "", 404, "", nil},
		{"a topping in a namespace", "GET", beta + "namespaces/default/toppings", "", 404, "", nil},
		{"nowhere", "GET", "/apis/apps", "", 404, "", nil},
		{"OpenAPI v2", "GET", "/openapi/v2", "", 404, "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			before := w.revision()
			got := w.do(test.method, test.path, test.body, test.header...)
			if got.code != test.code || !strings.Contains(got.message(), test.want) || len(got.message()) > 10_000 {
				t.Errorf("%d %.1000s, want %d and %q", got.code, got.message(), test.code, test.want)
			}
			if got.get("kind") != "Status" || got.get("code") != float64(test.code) {
				t.Errorf("the answer is no Status: %v", got.body)
			}
			if after := w.revision(); after != before {
				t.Errorf("something was written: revision %d, was %d", after, before)
			}
		})
	}
}

// Unknown fields, and keys that come twice, are an error, unless the client wants them to be
// ignored.
func TestFieldValidation(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for validation, code := range map[string]int{"": 400, "&fieldValidation=Strict": 400, "&fieldValidation=Ignore": 200} {
		w.patch(code, beta+"toppings/tomato?dryRun=All"+validation, `{"spec":{"cost":1,"cost":2}}`)
		w.must(code, "PUT", beta+"toppings/tomato?dryRun=All"+validation,
			fmt.Sprintf(`{"metadata":{"name":"tomato","resourceVersion":%q},"spec":{"cost":1,"color":"green"}}`, w.must(http.StatusOK, "GET", beta+"toppings/tomato", "").get("metadata.resourceVersion")))
	}
}

// A dry run says what would be, and nothing is.
func TestDryRun(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.revision()
	w.must(http.StatusCreated, "POST", beta+"toppings?dryRun=All", `{"metadata":{"name":"basil"},"spec":{"cost":1}}`)
	w.patch(http.StatusOK, beta+"toppings/tomato?dryRun=All", `{"spec":{"cost":1}}`)
	w.must(http.StatusOK, "DELETE", beta+"toppings/tomato", `{"dryRun":["All"]}`)
	w.must(http.StatusCreated, "PATCH", beta+"toppings/basil?dryRun=All&fieldManager=a", `{"spec":{"cost":1}}`, "Content-Type", applyType)
	if after := w.revision(); after != before {
		t.Errorf("revision %d, was %d", after, before)
	}
}

// A selector finds what it names.
func TestSelectors(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.patch(http.StatusOK, beta+"toppings/tomato", `{"metadata":{"labels":{"vegan":"yes"}}}`)
	for query, want := range map[string]int{"": 3, "?limit=1": 3, "?fieldSelector=metadata.name%3Dtomato": 1, "?labelSelector=vegan": 1, "?labelSelector=%21vegan": 2} {
		if items := w.must(http.StatusOK, "GET", beta+"toppings"+query, "").body["items"].([]any); len(items) != want {
			t.Errorf("%q: %d toppings, want %d", query, len(items), want)
		}
	}
}

// A list is written object by object, so that one for a slow client takes the memory of one object.
func TestLargeList(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for _, name := range []string{"tomato", "mozzarella", "salami"} {
		w.patch(http.StatusOK, beta+"toppings/"+name, fmt.Sprintf(`{"metadata":{"annotations":{"a":%q}}}`, strings.Repeat("x", 10_000)))
	}
	answer := &writes{ResponseRecorder: httptest.NewRecorder()}
	w.handler.routes().ServeHTTP(answer, httptest.NewRequest("GET", beta+"toppings", nil))
	if answer.Body.Len() < 30_000 || answer.largest > 15_000 {
		t.Errorf("of %d bytes it writes %d at once", answer.Body.Len(), answer.largest)
	}
}

// writes notes the largest one.
type writes struct {
	*httptest.ResponseRecorder
	largest int
}

func (w *writes) Write(text []byte) (int, error) {
	w.largest = max(w.largest, len(text))
	return w.ResponseRecorder.Write(text)
}

// A topping is deleted, or a pizza has it, never both: many try at the same time.
func TestInUse(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for round := range 20 {
		name := fmt.Sprintf("herb-%d", round)
		w.must(http.StatusCreated, "POST", beta+"toppings", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"cost":1}}`, name))
		var both sync.WaitGroup
		var baked, deleted reply
		both.Go(func() {
			baked = w.do("POST", alpha+inDefault, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"toppings":[%q]}}`, name, name))
		})
		both.Go(func() { deleted = w.do("DELETE", beta+"toppings/"+name, "") })
		both.Wait()
		if (baked.code == http.StatusCreated) == (deleted.code == http.StatusOK) {
			t.Errorf("to bake: %d, to delete: %d; want one of them", baked.code, deleted.code)
		}
	}
}

// Nothing is written if nothing changes: no event, no new version.
func TestNoChange(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.revision()
	w.patch(http.StatusOK, beta+"toppings/tomato", `{"spec":{"cost":50}}`)
	if after := w.revision(); after != before {
		t.Errorf("revision %d, was %d", after, before)
	}
}

// What the server alone decides cannot be written.
func TestServerDecides(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.must(http.StatusOK, "GET", beta+"toppings/tomato", "")
	after := w.patch(http.StatusOK, beta+"toppings/tomato", `{"metadata":{"creationTimestamp":"2000-01-01T00:00:00Z","generation":7,"deletionTimestamp":"2000-01-01T00:00:00Z","labels":{"a":"b"}}}`)
	for _, field := range []string{"metadata.creationTimestamp", "metadata.generation", "metadata.deletionTimestamp", "metadata.uid"} {
		if before.get(field) != after.get(field) {
			t.Errorf("%s is %v, was %v", field, after.get(field), before.get(field))
		}
	}
	after = w.patch(http.StatusOK, beta+"toppings/tomato", `{"spec":{"cost":7}}`)
	if generation := after.get("metadata.generation"); generation != 2.0 {
		t.Errorf("after the spec has changed: generation %v, want 2", generation)
	}
}

// No other request waits while an object is made ready to be stored. One that has changed meanwhile is made
// ready again, so that neither write is lost.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	w.menu()
	r := &request{Request: httptest.NewRequest("PATCH", beta+"toppings/tomato", nil), verb: "patch", kind: toppings, version: hub, name: "tomato"}
	tries := 0
	err := w.handler.put(&answerWriter{ResponseWriter: httptest.NewRecorder()}, r, &metav1.PatchOptions{}, func(current object) (object, error) {
		if tries++; tries == 1 {
			w.patch(http.StatusOK, beta+"toppings/tomato", `{"spec":{"cost":7}}`)
		}
		next := deepCopy(current)
		next.SetLabels(map[string]string{"a": "b"})
		return next, nil
	})
	got := w.must(http.StatusOK, "GET", beta+"toppings/tomato", "")
	if err != nil || tries != 2 || got.get("spec.cost") != 7.0 || got.get("metadata.labels.a") != "b" {
		t.Errorf("after %d tries (%v) it is %v", tries, err, got.body)
	}
}

// A request whose time is over looks at no more objects, and deletes none.
func TestTimeIsOver(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.revision()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for verb, handle := range map[string]handle{"list": (*server).list, "deletecollection": (*server).deleteCollection} {
		r := &request{Request: httptest.NewRequestWithContext(ctx, "GET", beta+"toppings", nil), verb: verb, kind: toppings, version: hub}
		if err := handle(w.handler, &answerWriter{ResponseWriter: httptest.NewRecorder()}, r); !apierrors.IsTimeout(err) {
			t.Errorf("%s: %v, want 504", verb, err)
		}
	}
	if after := w.revision(); after != before {
		t.Errorf("something was deleted: revision %d, was %d", after, before)
	}
}
