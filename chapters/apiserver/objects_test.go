package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An object has what the server adds. What the server alone decides cannot be written, neither
// with a new object nor later.
func TestServerDecides(t *testing.T) {
	w := newWorld(t)
	const old = "2000-01-01T00:00:00Z"
	const decided = `"creationTimestamp":"` + old + `","deletionTimestamp":"` + old + `","generation":7`
	created := w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"basil",`+decided+`},"spec":{"cost":30}}`)
	if diff := cmp.Diff(created.body, w.must(http.StatusOK, "GET", collection+"/basil", "").body); diff != "" {
		t.Errorf("what the POST and a GET answer (-POST +GET):\n%s", diff)
	}
	for _, field := range []string{"apiVersion", "kind", "metadata.uid", "metadata.creationTimestamp", "metadata.managedFields"} {
		if value := created.get(field); value == nil || value == old {
			t.Errorf("%s of a new object is %v", field, value)
		}
	}
	w.patch(http.StatusOK, collection+"/basil", `{"metadata":{"labels":{"a":"b"},`+decided+`}}`)
	changed := w.patch(http.StatusOK, collection+"/basil", `{"spec":{"cost":7}}`)
	for field, want := range map[string]any{
		"uid": created.get("metadata.uid"), "creationTimestamp": created.get("metadata.creationTimestamp"),
		"deletionTimestamp": nil, "generation": 2.0,
	} {
		if got := changed.get("metadata." + field); got != want {
			t.Errorf("after the spec has changed: %s is %v, want %v", field, got, want)
		}
	}
}

// Each bad request is refused with the code that clients know, and says why.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.menu()
	deep := `{"metadata":{"annotations":{"x":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + "}}}"
	const topping = `{"metadata":{"name":"basil"},"spec":{"cost":1}}`
	seen := w.must(http.StatusOK, "GET", collection+"/tomato", "").get("metadata.resourceVersion")
	merges, applies := []string{"Content-Type", mergeType}, []string{"Content-Type", applyType}
	for _, test := range []struct {
		reason, method, path, body string
		code                       int
		want                       string
		header                     []string
	}{
		{"a name that is none", "POST", collection, `{"metadata":{"name":"A B"},"spec":{"cost":1}}`, 422, "metadata.name", nil},
		{"it exists", "POST", collection, `{"metadata":{"name":"tomato"},"spec":{"cost":1}}`, 409, "already exists", nil},
		{"another kind", "POST", collection, `{"kind":"Pizza","apiVersion":"` + version.String() + `","metadata":{"name":"b"}}`, 400, "Pizza", nil},
		{"no JSON", "POST", collection, `{`, 400, "", nil},
		{"a negative cost", "POST", collection, `{"metadata":{"name":"b"},"spec":{"cost":-1}}`, 422, "negative", nil},
		{"protobuf", "POST", collection, "k8s", 415, "application/json", []string{"Content-Type", "application/vnd.kubernetes.protobuf"}},
		{"strategic merge patch", "PATCH", collection + "/tomato", "{}", 415, "merge-patch", []string{"Content-Type", "application/strategic-merge-patch+json"}},
		{"too long", "POST", collection, strings.Repeat(" ", maxBody+1), 400, "too large", nil},
		{"a merge patch that is too deep", "PATCH", collection + "/tomato", deep, 400, "limit is 1000", merges},
		{"hundreds of mistakes", "POST", collection, `{"metadata":{"name":"b","ownerReferences":[{}` + strings.Repeat(",{}", 400) + "]}}", 422, "name: Required", nil},
		{"a JSON Patch", "PATCH", collection + "/tomato", "[]", 415, "merge-patch", []string{"Content-Type", "application/json-patch+json"}},
		{"a User-Agent that is too long for a manager", "POST", collection + "?dryRun=All", topping, 422, "manager: Too long", []string{"User-Agent", strings.Repeat("x", 129)}},
		{"a PUT without version", "PUT", collection + "/tomato", `{"metadata":{"name":"tomato"},"spec":{"cost":1}}`, 422, "resourceVersion", nil},
		{"a PUT with an old version", "PUT", collection + "/tomato", `{"metadata":{"name":"tomato","resourceVersion":"999"},"spec":{"cost":1}}`, 409, "modified", nil},
		{"a PUT with another UID", "PUT", collection + "/tomato", fmt.Sprintf(`{"metadata":{"name":"tomato","uid":"1","resourceVersion":%q},"spec":{"cost":1}}`, seen), 409, "UID", nil},
		{"a patch that renames", "PATCH", collection + "/tomato", `{"metadata":{"name":"basil"}}`, 400, "does not match", merges},
		{"a patch of nothing", "PATCH", collection + "/basil", `{}`, 404, "not found", merges},
		{"another UID", "DELETE", collection + "/tomato", `{"preconditions":{"uid":"1"}}`, 409, "UID", nil},
		{"another version", "DELETE", collection + "/tomato", `{"preconditions":{"resourceVersion":"999"}}`, 409, "modified", nil},
		{"an old way to ask for orphans", "DELETE", collection + "/tomato", `{"orphanDependents":true}`, 400, "propagationPolicy", nil},
		{"options of another type", "DELETE", collection + "/tomato", `{"preconditions":7}`, 400, "DeleteOptions", nil},
		{"an unknown policy", "DELETE", collection + "/tomato?propagationPolicy=Later", "", 422, "Later", nil},
		{"a dry run of some", "POST", collection + "?dryRun=Some", topping, 422, "Some", nil},
		{"a version that is no number", "GET", collection + "?resourceVersion=x", "", 400, "x", nil},
		{"a version that has not been", "GET", collection + "?resourceVersion=9223372036854775807", "", 504, "Too large", nil},
		{"a watch from the future", "GET", collection + "?watch=true&resourceVersion=9223372036854775807", "", 504, "Too large", nil},
		{"initial events without match", "GET", collection + "?watch=true&sendInitialEvents=true", "", 422, "resourceVersionMatch", nil},
		{"a selector that is none", "GET", collection + "?labelSelector=%21%21", "", 400, "", nil},
		{"a field that has no selector", "GET", collection + "?fieldSelector=spec.cost%3D1", "", 400, "spec.cost", nil},
		{"a list of the past", "GET", collection + "?resourceVersionMatch=Exact&resourceVersion=1", "", 410, "past", nil},
		{"a watch from before the start", "GET", collection + "?watch=true&resourceVersion=1", "", 410, "too old", nil},
		{"a merge patch that is null", "PATCH", collection + "/tomato", "null", 400, "", merges},
		{"more than the budget", "POST", collection, `{"metadata":{"name":"truffle"},"spec":{"cost":9701}}`, 403, "would cost 10001", nil},
		{"a deletion of all", "DELETE", collection, "", 405, "", nil},
		{"a subresource", "GET", collection + "/tomato/status", "", 404, "", nil},
		{"a name that begins alike", "GET", collection + "s", "", 404, "", nil},
		{"an apply: no manager", "PATCH", collection + "/basil", `{}`, 422, "fieldManager", applies},
		{"an apply: an alias of YAML", "PATCH", collection + "/basil?fieldManager=a", "a: &a x\nb: [*a, *a]", 400, "", applies},
		{"an apply: managedFields", "PATCH", collection + "/basil?fieldManager=a", `{"metadata":{"managedFields":[{"manager":"b"}]}}`, 400, "managedFields", applies},
		{"an apply: a version of what is not there", "PATCH", collection + "/basil?fieldManager=a", `{"metadata":{"resourceVersion":"1"}}`, 409, "modified", applies},
		{"a key twice, whatever the client wants", "PATCH", collection + "/tomato?dryRun=All&fieldValidation=Ignore", `{"spec":{"cost":1,"cost":2}}`, 400, "", merges},
		{"an unknown field, whatever the client wants", "POST", collection + "?dryRun=All&fieldValidation=Ignore", `{"metadata":{"name":"basil"},"spec":{"cost":1,"color":"green"}}`, 400, "", nil},
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

// A dry run says what would be, and nothing is.
func TestDryRun(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.revision()
	w.must(http.StatusCreated, "POST", collection+"?dryRun=All", `{"metadata":{"name":"basil"},"spec":{"cost":1}}`)
	w.patch(http.StatusOK, collection+"/tomato?dryRun=All", `{"spec":{"cost":1}}`)
	w.must(http.StatusOK, "DELETE", collection+"/tomato", `{"dryRun":["All"]}`)
	w.must(http.StatusCreated, "PATCH", collection+"/basil?dryRun=All&fieldManager=a", `{"spec":{"cost":1}}`, "Content-Type", applyType)
	if after := w.revision(); after != before {
		t.Errorf("revision %d, was %d", after, before)
	}
}

// A selector finds what it names.
func TestSelectors(t *testing.T) {
	w := newWorld(t)
	w.menu()
	w.patch(http.StatusOK, collection+"/tomato", `{"metadata":{"labels":{"vegan":"yes"}}}`)
	for query, want := range map[string]int{"": 3, "?limit=1": 3, "?fieldSelector=metadata.name%3Dtomato": 1, "?labelSelector=vegan": 1, "?labelSelector=%21vegan": 2} {
		if items := w.must(http.StatusOK, "GET", collection+query, "").body["items"].([]any); len(items) != want {
			t.Errorf("%q: %d toppings, want %d", query, len(items), want)
		}
	}
}

// A list is written object by object, so that one for a slow client takes the memory of one object.
func TestLargeList(t *testing.T) {
	w := newWorld(t)
	w.menu()
	for _, name := range []string{"tomato", "mozzarella", "salami"} {
		w.patch(http.StatusOK, collection+"/"+name, fmt.Sprintf(`{"metadata":{"annotations":{"a":%q}}}`, strings.Repeat("x", 10_000)))
	}
	answer := &writes{ResponseRecorder: httptest.NewRecorder()}
	w.handler.ServeHTTP(answer, httptest.NewRequest("GET", collection, nil))
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

// The budget holds, whatever comes at the same time: of two toppings that fit alone one is stored.
func TestBudget(t *testing.T) {
	w, decode := newWorld(t), decodeStored
	t.Cleanup(func() { decodeStored = decode })
	// The last moment before the lock is taken.
	decodeStored = func(text []byte) (*topping, error) {
		decodeStored = decode
		w.must(http.StatusCreated, "POST", collection, `{"metadata":{"name":"gold"},"spec":{"cost":6000}}`)
		return decode(text)
	}
	w.must(http.StatusForbidden, "POST", collection, `{"metadata":{"name":"truffle"},"spec":{"cost":6000}}`)
}

// No other request waits while an object is made ready to be stored. One that has changed meanwhile is made
// ready again, so that neither write is lost.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	w.menu()
	r := &request{Request: httptest.NewRequest("PATCH", collection+"/tomato", nil), verb: "patch", name: "tomato"}
	tries := 0
	_, err := w.handler.write(r, false, func(current *topping) (*topping, error) {
		if tries++; tries == 1 {
			w.patch(http.StatusOK, collection+"/tomato", `{"spec":{"cost":7}}`)
		}
		next := deepCopy(current)
		next.SetLabels(map[string]string{"a": "b"})
		return next, nil
	})
	got := w.must(http.StatusOK, "GET", collection+"/tomato", "")
	if err != nil || tries != 2 || got.get("spec.cost") != 7.0 || got.get("metadata.labels.a") != "b" {
		t.Errorf("after %d tries (%v) it is %v", tries, err, got.body)
	}
}

// A request whose time is over looks at no more objects, and writes none.
func TestTimeIsOver(t *testing.T) {
	w := newWorld(t)
	w.menu()
	before := w.revision()
	ctx, cancel := context.WithCancel(t.Context())
	r := &request{Request: httptest.NewRequestWithContext(ctx, "GET", collection, nil), name: "tomato"}
	// Another request has the lock until the time is over.
	_, err := w.handler.write(r, false, func(current *topping) (*topping, error) {
		w.handler.storage.mu.Lock()
		go func() {
			cancel()
			w.handler.storage.mu.Unlock()
		}()
		return markDeleted(current, nil), nil
	})
	if after := w.revision(); !apierrors.IsTimeout(err) || after != before {
		t.Errorf("a write that waits for the lock: %v, want 504; revision %d, was %d", err, after, before)
	}
	if err := w.handler.list(httptest.NewRecorder(), r); !apierrors.IsTimeout(err) {
		t.Errorf("list: %v, want 504", err)
	}
}
