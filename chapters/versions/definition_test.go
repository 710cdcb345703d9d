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

const address = "https://127.0.0.1:1/convert"

// says is a definition that names this program as its webhook.
func says(t *testing.T, storage string, stored ...string) string {
	t.Helper()
	d := definition{}
	d.Metadata.ResourceVersion = "7"
	d.Spec.Conversion = conversionSpec{"Webhook", &conversionWebhook{ClientConfig: clientConfig{URL: address}}}
	for _, name := range []string{"v1alpha1", "v1beta1"} {
		d.Spec.Versions = append(d.Spec.Versions, version{Name: name, Served: true, Storage: name == storage})
	}
	d.Status.StoredVersions = stored
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	get       = "GET " + definitionPath
	patch     = "PATCH " + definitionPath + ` [{"op":"replace","path":"/metadata/resourceVersion","value":"7"},`
	alphaList = "GET /apis/" + group + "/v1alpha1/pizzas?limit=1"
	betaList  = "GET /apis/" + group + "/v1beta1/pizzas?limit=1"
)

// serves is the part of a patch that says which versions are served.
func serves(alpha, beta bool) string {
	return fmt.Sprintf(`{"op":"replace","path":"/spec/versions/0/served","value":%t},{"op":"replace","path":"/spec/versions/1/served","value":%t}`, alpha, beta)
}

// One write brings the webhook, and v1beta1 with it. If somebody else writes first, it is
// made again from what the definition says then.
func TestInstall(t *testing.T) {
	const conversion = `,{"op":"add","path":"/spec/conversion","value":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"` + address + `","caBundle":"Q0E="},"conversionReviewVersions":["v1"]}}}]`
	definition := says(t, "v1alpha1", "v1alpha1")
	requests := newAPI(t,
		exchange{get, 200, definition},
		exchange{patch + serves(true, true) + conversion, 409, status(409, "Conflict")},
		exchange{get, 200, definition},
		exchange{patch + serves(true, true) + conversion, 200, definition},
		exchange{alphaList, 200, `{}`},
		exchange{betaList, 200, `{}`},
	)
	if err := requests.install(t.Context(), address, []byte("CA")); err != nil {
		t.Error(err)
	}
}

// Without a definition the error says what to do.
func TestInstallWithoutDefinition(t *testing.T) {
	err := newAPI(t, exchange{get, 404, status(404, "NotFound")}).install(t.Context(), address, nil)
	if err == nil || !strings.Contains(err.Error(), "kubectl apply -f chapters/versions/config/crd") {
		t.Errorf("%v, want what to do", err)
	}
}

// The webhook goes only if each Pizza is stored as config/crd says. The storage version is
// served in any case.
func TestLeave(t *testing.T) {
	const none = `,{"op":"add","path":"/spec/conversion","value":{"strategy":"None"}}]`
	notFound := status(404, "NotFound")
	onlyAlpha := []exchange{{alphaList, 200, `{}`}, {betaList, 404, notFound}}
	onlyBeta := []exchange{{alphaList, 404, notFound}, {betaList, 200, `{}`}}
	for _, test := range []struct {
		reason, definition, patch string
		awaits                    []exchange
		did                       string
	}{
		{"as it began", says(t, "v1alpha1", "v1alpha1"), serves(true, false) + none, onlyAlpha, "taken away: "},
		{"before a migration", says(t, "v1beta1", "v1alpha1", "v1beta1"), serves(false, true) + "]", onlyBeta, "kept: "},
		{"after it", says(t, "v1beta1", "v1beta1"), serves(false, true) + "]", onlyBeta, "kept: "},
		{"before one back", says(t, "v1alpha1", "v1beta1", "v1alpha1"), serves(true, false) + "]", onlyAlpha, "kept: "},
		{"another process is the webhook", strings.Replace(says(t, "v1alpha1", "v1alpha1"), address, "https://127.0.0.1:2/convert", 1), "", nil, "left as it is: "},
		{"somebody has taken it away", strings.Replace(says(t, "v1alpha1", "v1alpha1"), `"webhook"`, `"none"`, 1), "", nil, "left as it is: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exchanges := []exchange{{get, 200, test.definition}}
			if test.patch != "" {
				exchanges = append(exchanges, exchange{patch + test.patch, 200, test.definition})
			}
			did, err := newAPI(t, append(exchanges, test.awaits...)...).leave(t.Context(), address)
			if !strings.HasPrefix(did, test.did) || err != nil {
				t.Errorf("%q, %v; want %q", did, err, test.did)
			}
		})
	}
	t.Run("there is no definition any more", func(t *testing.T) {
		if did, err := newAPI(t, exchange{get, 404, notFound}).leave(t.Context(), address); did != "" || err != nil {
			t.Errorf("%q, %v", did, err)
		}
	})
}

// What the API server answers while it has not seen a change yet is no error.
func TestAwait(t *testing.T) {
	later := newAPI(t, exchange{betaList, 404, status(404, "NotFound")}, exchange{betaList, 500, status(500, "InternalError")}, exchange{betaList, 200, `{}`})
	if err := later.await(t.Context(), "v1beta1", true); err != nil {
		t.Error(err)
	}
	gone := newAPI(t, exchange{betaList, 200, `{}`}, exchange{betaList, 500, status(500, "InternalError")}, exchange{betaList, 404, status(404, "NotFound")})
	if err := gone.await(t.Context(), "v1beta1", false); err != nil {
		t.Error(err)
	}
}

// A migration writes each Pizza, on all pages, and only then says so. One that is gone is
// none.
func TestMigrate(t *testing.T) {
	const all = "/apis/restaurant.programming-kubernetes.info/v1beta1/"
	before := says(t, "v1beta1", "v1alpha1", "v1beta1")
	pages := []exchange{
		{get, 200, before},
		{"GET " + all + "pizzas?continue=&limit=500", 200, `{"metadata":{"continue":"next"},"items":[{"metadata":{"namespace":"a","name":"one"}}]}`},
		{"GET " + all + "pizzas?continue=next&limit=500", 200, `{"metadata":{},"items":[{"metadata":{"namespace":"b","name":"two"}}]}`},
		{"PATCH " + all + "namespaces/a/pizzas/one {}", 200, `{}`},
		{"PATCH " + all + "namespaces/b/pizzas/two {}", 404, status(404, "NotFound")},
	}
	const write = "PATCH " + definitionPath + `/status {"metadata":{"resourceVersion":"7"},"status":{"storedVersions":["v1beta1"]}}`
	story := log.New(io.Discard, "", 0)

	requests := newAPI(t, append(pages, exchange{write, 200, says(t, "v1beta1", "v1beta1")})...)
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
	requests = newAPI(t, exchange{get, 200, says(t, "v1beta1", "v1beta1")})
	if err := requests.migrate(t.Context(), story); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
