package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// exchange is a request that a test expects, with its answer.
type exchange struct {
	request string // METHOD path, and the body of a write
	code    int
	answer  string
}

// newAPI returns an api whose server expects these requests, in this order.
func newAPI(t *testing.T, exchanges ...exchange) *api {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		// How long the API server may take is client-go's business.
		query := r.URL.Query()
		query.Del("timeout")
		r.URL.RawQuery = query.Encode()
		body, _ := io.ReadAll(r.Body)
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body))
		if len(exchanges) == 0 {
			t.Errorf("%s: want no more requests", got)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		next := exchanges[0]
		exchanges = exchanges[1:]
		if diff := cmp.Diff(next.request, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(next.code)
		_, _ = io.WriteString(w, next.answer)
	}))
	t.Cleanup(func() {
		server.Close()
		if len(exchanges) > 0 && !t.Failed() {
			t.Errorf("%d requests were not sent, first %s", len(exchanges), exchanges[0].request)
		}
	})
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return &api{client.RESTClient()}
}

// status is the answer to a request that fails.
func status(code int, reason string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Status","status":"Failure","code":%d,"reason":%q,"message":"refused"}`, code, reason)
}

// says is a definition. served are the versions that it serves.
func says(t *testing.T, storage string, stored []string, served string) string {
	t.Helper()
	d := definition{}
	d.Metadata.ResourceVersion = "7"
	for _, name := range []string{"v1alpha1", "v1beta1"} {
		d.Spec.Versions = append(d.Spec.Versions, struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		}{name, strings.Contains(served, name), name == storage})
	}
	d.Status.StoredVersions = stored
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	get             = "GET " + definitionPath
	patch           = "PATCH " + definitionPath + " "
	resourceVersion = `{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
)

// One write brings the webhook, and v1beta1 with it. If somebody else was first it is made
// again, from what the definition says then.
func TestInstall(t *testing.T) {
	const conversion = `{"op":"add","path":"/spec/conversion","value":{"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"Q0E=","url":"https://127.0.0.1:1/convert"},"conversionReviewVersions":["v1"]}}},`
	before := says(t, "v1alpha1", []string{"v1alpha1"}, "v1alpha1")
	after := says(t, "v1alpha1", []string{"v1alpha1"}, "v1alpha1 v1beta1")
	requests := newAPI(t,
		exchange{get, 200, before},
		exchange{patch + `[{"op":"replace","path":"/spec/versions/1/served","value":true},` + conversion + resourceVersion, 409, status(409, "Conflict")},
		exchange{get, 200, after},
		exchange{patch + `[` + conversion + resourceVersion, 200, after},
	)
	if err := requests.install(t.Context(), "https://127.0.0.1:1/convert", []byte("CA")); err != nil {
		t.Error(err)
	}
}

// Without a definition the error says what to do.
func TestInstallWithoutDefinition(t *testing.T) {
	err := newAPI(t, exchange{get, 404, status(404, "NotFound")}).install(t.Context(), "https://127.0.0.1:1/convert", nil)
	if err == nil || !strings.Contains(err.Error(), "kubectl apply -f chapters/versions/config/crd") {
		t.Errorf("%v, want what to do", err)
	}
}

// The webhook goes only if each Pizza is stored as config/crd says. The storage version is
// served in any case.
func TestLeave(t *testing.T) {
	const (
		none     = `{"op":"add","path":"/spec/conversion","value":{"strategy":"None"}},`
		noAlpha  = `{"op":"replace","path":"/spec/versions/0/served","value":false},`
		noBeta   = `{"op":"replace","path":"/spec/versions/1/served","value":false},`
		yesAlpha = `{"op":"replace","path":"/spec/versions/0/served","value":true},`
	)
	for _, test := range []struct {
		reason, storage string
		stored          []string
		served          string
		want            string
		stays           bool
		gone            string
	}{
		{"as it began", "v1alpha1", []string{"v1alpha1"}, "v1alpha1 v1beta1", noBeta + none, false, "v1beta1"},
		{"somebody serves v1beta1 alone", "v1alpha1", []string{"v1alpha1"}, "v1beta1", yesAlpha + noBeta + none, false, "v1beta1"},
		{"before a migration", "v1beta1", []string{"v1alpha1", "v1beta1"}, "v1alpha1 v1beta1", noAlpha, true, "v1alpha1"},
		{"after it", "v1beta1", []string{"v1beta1"}, "v1alpha1 v1beta1", noAlpha, true, "v1alpha1"},
		{"before one back", "v1alpha1", []string{"v1beta1", "v1alpha1"}, "v1alpha1 v1beta1", noBeta, true, "v1beta1"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			before := says(t, test.storage, test.stored, test.served)
			requests := newAPI(t, exchange{get, 200, before}, exchange{patch + "[" + test.want + resourceVersion, 200, before})
			stays, gone, err := requests.leave(t.Context())
			if stays != test.stays || gone != test.gone || err != nil {
				t.Errorf("stays %t, gone %s, %v; want %t, %s", stays, gone, err, test.stays, test.gone)
			}
		})
	}
	t.Run("there is no definition any more", func(t *testing.T) {
		if _, _, err := newAPI(t, exchange{get, 404, status(404, "NotFound")}).leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What the API server answers while it has not seen a change yet is no error.
func TestAwait(t *testing.T) {
	const list = "GET /apis/restaurant.programming-kubernetes.info/v1beta1/pizzas?limit=1"
	served := newAPI(t,
		exchange{list, 404, status(404, "NotFound")},
		exchange{list, 500, status(500, "InternalError")},
		exchange{list, 200, `{"kind":"PizzaList","apiVersion":"restaurant.programming-kubernetes.info/v1beta1","items":[]}`})
	if err := served.await(t.Context(), "v1beta1", true); err != nil {
		t.Error(err)
	}
	gone := newAPI(t, exchange{list, 200, `{}`}, exchange{list, 500, status(500, "InternalError")}, exchange{list, 404, status(404, "NotFound")})
	if err := gone.await(t.Context(), "v1beta1", false); err != nil {
		t.Error(err)
	}
}

// A migration writes each Pizza, on all pages, and only then says so. One that is gone is
// none.
func TestMigrate(t *testing.T) {
	const all = "/apis/restaurant.programming-kubernetes.info/v1beta1/"
	before := says(t, "v1beta1", []string{"v1alpha1", "v1beta1"}, "v1alpha1 v1beta1")
	pages := []exchange{
		{get, 200, before},
		{"GET " + all + "pizzas?continue=&limit=500", 200, `{"metadata":{"continue":"next"},"items":[{"metadata":{"namespace":"a","name":"one"}}]}`},
		{"GET " + all + "pizzas?continue=next&limit=500", 200, `{"metadata":{},"items":[{"metadata":{"namespace":"b","name":"two"}}]}`},
		{"PATCH " + all + "namespaces/a/pizzas/one {}", 200, `{}`},
		{"PATCH " + all + "namespaces/b/pizzas/two {}", 404, status(404, "NotFound")},
	}
	const write = "PATCH " + definitionPath + `/status {"metadata":{"resourceVersion":"7"},"status":{"storedVersions":["v1beta1"]}}`
	story := log.New(io.Discard, "", 0)

	requests := newAPI(t, append(pages, exchange{write, 200, says(t, "v1beta1", []string{"v1beta1"}, "")})...)
	if err := requests.migrate(t.Context(), story); err != nil {
		t.Error(err)
	}
	requests = newAPI(t, append(pages, exchange{write, 409, status(409, "Conflict")})...)
	if err := requests.migrate(t.Context(), story); err == nil || !strings.Contains(err.Error(), "migrate again") {
		t.Errorf("%v after somebody has changed the definition, want what to do", err)
	}
	requests = newAPI(t, append(pages[:3:3], exchange{"PATCH " + all + "namespaces/a/pizzas/one {}", 500, status(500, "InternalError")})...)
	if err := requests.migrate(t.Context(), story); err == nil || !strings.Contains(err.Error(), "a/one") {
		t.Errorf("%v, want the Pizza that could not be written, and the status unchanged", err)
	}
	requests = newAPI(t, exchange{get, 200, says(t, "v1beta1", []string{"v1beta1"}, "v1beta1")})
	if err := requests.migrate(t.Context(), story); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
