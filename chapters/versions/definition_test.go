package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/chapters/internal/webhook"
)

type exchange = chaptertest.Exchange

// newAPI returns an api whose server expects these requests, in this order.
func newAPI(t *testing.T, exchanges ...exchange) *api {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(chaptertest.Expect(t, exchanges...))
	if err != nil {
		t.Fatal(err)
	}
	return &api{rest: client.RESTClient()}
}

const address = "https://127.0.0.1:1/convert"

// says is a definition that names this program as its webhook.
func says(t *testing.T, storage string, stored ...string) string {
	t.Helper()
	d := definition{}
	d.Metadata.ResourceVersion = "7"
	d.Spec.Conversion = conversionSpec{"Webhook", &conversionWebhook{clientConfig{URL: address}, []string{"v1"}}}
	for _, name := range []string{"v1alpha1", "v1beta1"} {
		d.Spec.Versions = append(d.Spec.Versions, version{Name: name, Served: true, Storage: name == storage})
	}
	d.Status.StoredVersions = stored
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return `{"kind":"CustomResourceDefinition",` + string(text[1:])
}

const (
	get       = "GET " + definitionPath
	patch     = "PATCH " + definitionPath + ` [{"op":"replace","path":"/metadata/resourceVersion","value":"7"},`
	alphaList = "GET /apis/" + group + "/v1alpha1/pizzas?limit=1"
	betaList  = "GET /apis/" + group + "/v1beta1/pizzas?limit=1"
	// webhookHere is the part of a patch that names this program as the webhook.
	webhookHere = `,{"op":"add","path":"/spec/conversion","value":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"` + address + `","caBundle":"Q0E="},"conversionReviewVersions":["v1"]}}}]`
)

// serves is the part of a patch that says which versions are served.
func serves(alpha, beta bool) string {
	return fmt.Sprintf(`{"op":"replace","path":"/spec/versions/0/served","value":%t},{"op":"replace","path":"/spec/versions/1/served","value":%t}`, alpha, beta)
}

// One write brings the webhook, and v1beta1 with it. If another client writes first, it is
// made again from what the definition says then.
func TestInstall(t *testing.T) {
	definition := says(t, "v1alpha1", "v1alpha1")
	requests := newAPI(t,
		exchange{Request: get, Code: 200, Answer: definition},
		exchange{Request: patch + serves(true, true) + webhookHere, Code: 409, Answer: chaptertest.Status(409, "Conflict")},
		exchange{Request: get, Code: 200, Answer: definition},
		exchange{Request: patch + serves(true, true) + webhookHere, Code: 200, Answer: definition},
		exchange{Request: alphaList, Code: 200, Answer: `{}`},
		exchange{Request: betaList, Code: 200, Answer: `{}`},
	)
	if err := requests.install(t.Context(), address, []byte("CA"), true); err != nil {
		t.Error(err)
	}
}

// While it runs, the program restores what is not as it was, and leaves another one alone. An answer
// that is no definition is an error, not one without versions; without one the error says what to do.
func TestRestore(t *testing.T) {
	right := strings.Replace(says(t, "v1alpha1", "v1alpha1"), `"caBundle":null`, `"caBundle":"Q0E="`, 1)
	for _, test := range []struct {
		reason string
		code   int
		answer string
		writes bool
		want   string
	}{
		{"as it was", 200, right, false, ""},
		{"v1beta1 is not served", 200, strings.Replace(right, `"v1beta1","served":true`, `"v1beta1","served":false`, 1), true, ""},
		{"another bundle", 200, strings.Replace(right, "Q0E=", "Q0I=", 1), true, ""},
		{"nothing converts", 200, strings.Replace(right, `"webhook"`, `"none"`, 1), true, ""},
		{"another process converts", 200, strings.Replace(right, address, "https://127.0.0.1:2/convert", 1), false, webhook.ErrTaken.Error()},
		{"another kind", 200, `{}`, false, "want a CustomResourceDefinition"},
		{"no version", 200, `{"kind":"CustomResourceDefinition"}`, false, "without a storage version"},
		{"no definition", 404, chaptertest.Status(404, "NotFound"), false, "kubectl apply -f chapters/versions/config/crd"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exchanges := []exchange{{Request: get, Code: test.code, Answer: test.answer}}
			if test.writes {
				exchanges = append(exchanges, exchange{Request: patch + serves(true, true) + webhookHere, Code: 200, Answer: right},
					exchange{Request: alphaList, Code: 200, Answer: `{}`}, exchange{Request: betaList, Code: 200, Answer: `{}`})
			}
			err := newAPI(t, exchanges...).install(t.Context(), address, []byte("CA"), false)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// The webhook goes only if each Pizza is stored as config/crd says. The storage version is
// served in any case.
func TestLeave(t *testing.T) {
	const none = `,{"op":"add","path":"/spec/conversion","value":{"strategy":"None"}}]`
	notFound := chaptertest.Status(404, "NotFound")
	onlyAlpha := []exchange{{Request: alphaList, Code: 200, Answer: `{}`}, {Request: betaList, Code: 404, Answer: notFound}}
	onlyBeta := []exchange{{Request: alphaList, Code: 404, Answer: notFound}, {Request: betaList, Code: 200, Answer: `{}`}}
	for _, test := range []struct {
		reason, definition, patch string
		awaits                    []exchange
		did                       string
	}{
		{"as it began", says(t, "v1alpha1", "v1alpha1"), serves(true, false) + none, onlyAlpha, "taken away: "},
		{"after a migration", says(t, "v1beta1", "v1beta1"), serves(false, true) + "]", onlyBeta, "kept: "},
		{"before one back", says(t, "v1alpha1", "v1beta1", "v1alpha1"), serves(true, false) + "]", onlyAlpha, "kept: "},
		{"another process is the webhook", strings.Replace(says(t, "v1alpha1", "v1alpha1"), address, "https://127.0.0.1:2/convert", 1), "", nil, "left as it is: "},
		{"nothing converts any more", strings.Replace(says(t, "v1alpha1", "v1alpha1"), `"webhook"`, `"none"`, 1), "", nil, "left as it is: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exchanges := []exchange{{Request: get, Code: 200, Answer: test.definition}}
			if test.patch != "" {
				exchanges = append(exchanges, exchange{Request: patch + test.patch, Code: 200, Answer: test.definition})
			}
			var did bytes.Buffer
			err := takeAway(t.Context(), address, newAPI(t, append(exchanges, test.awaits...)...), log.New(&did, "", 0))
			if !strings.HasPrefix(did.String(), test.did) || err != nil {
				t.Errorf("%q, %v; want %q", &did, err, test.did)
			}
		})
	}
	t.Run("there is no definition any more", func(t *testing.T) {
		if did, err := newAPI(t, exchange{Request: get, Code: 404, Answer: notFound}).leave(t.Context(), address); did != "" || err != nil {
			t.Errorf("%q, %v", did, err)
		}
	})
}

// What the API server answers while it has not seen a change yet is no error.
func TestAwait(t *testing.T) {
	later := newAPI(t, exchange{Request: betaList, Code: 404, Answer: chaptertest.Status(404, "NotFound")}, exchange{Request: betaList, Code: 500, Answer: chaptertest.Status(500, "InternalError")}, exchange{Request: betaList, Code: 200, Answer: `{}`})
	if err := later.await(t.Context(), "v1beta1", true); err != nil {
		t.Error(err)
	}
	gone := newAPI(t, exchange{Request: betaList, Code: 200, Answer: `{}`}, exchange{Request: betaList, Code: 500, Answer: chaptertest.Status(500, "InternalError")}, exchange{Request: betaList, Code: 404, Answer: chaptertest.Status(404, "NotFound")})
	if err := gone.await(t.Context(), "v1beta1", false); err != nil {
		t.Error(err)
	}
}

// An API server before 1.37 cannot be asked to migrate: the program says so at its start, and
// what to do.
func TestLacks(t *testing.T) {
	const ask = "GET /apis/storagemigration.k8s.io/v1"
	old := newAPI(t, exchange{Request: ask, Code: 404, Answer: chaptertest.Status(404, "NotFound")})
	if got := old.lacks(t.Context()); !strings.Contains(got, "bin/versions migrate") {
		t.Errorf("without StorageVersionMigration: %q", got)
	}
	now := newAPI(t, exchange{Request: ask, Code: 200, Answer: `{}`})
	if got := now.lacks(t.Context()); got != "" {
		t.Errorf("with StorageVersionMigration: %q", got)
	}
}

// A migration waits, writes each Pizza, and only then says so. One that is gone is none.
func TestMigrate(t *testing.T) {
	const all = "/apis/restaurant.programming-kubernetes.info/v1beta1/"
	before := says(t, "v1beta1", "v1alpha1", "v1beta1")
	requests := []exchange{
		{Request: get, Code: 200, Answer: before},
		{Request: get, Code: 200, Answer: before},
		{Request: "GET " + all + "pizzas", Code: 200, Answer: `{"kind":"PizzaList","items":[{"metadata":{"namespace":"a","name":"one"}},{"metadata":{"namespace":"b","name":"two"}}]}`},
		{Request: "PATCH " + all + "namespaces/a/pizzas/one {}", Code: 200, Answer: `{"kind":"Pizza"}`},
		{Request: "PATCH " + all + "namespaces/b/pizzas/two {}", Code: 404, Answer: chaptertest.Status(404, "NotFound")},
		{Request: "PATCH " + definitionPath + `/status [{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
			`{"op":"replace","path":"/status/storedVersions","value":["v1beta1"]}]`, Code: 200, Answer: says(t, "v1beta1", "v1beta1")},
	}
	story := log.New(io.Discard, "", 0)
	if err := newAPI(t, requests...).migrate(t.Context(), story); err != nil {
		t.Error(err)
	}
	// What is no list would be one without Pizzas, and what is no Pizza was not written: then the
	// status would be a lie. An error says which Pizza could not be written, and that another client has
	// changed the definition.
	for _, wrong := range []struct {
		at, code     int
		answer, want string
	}{
		{1, 200, strings.Replace(before, `"generation":0`, `"generation":1`, 1), "migrate again"},
		{2, 200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`, "want a PizzaList"},
		{3, 200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`, "want a Pizza"},
		{3, 500, chaptertest.Status(500, "InternalError"), "a/one"},
		{5, 409, chaptertest.Status(409, "Conflict"), "migrate again"},
	} {
		api := newAPI(t, append(requests[:wrong.at:wrong.at], exchange{Request: requests[wrong.at].Request, Code: wrong.code, Answer: wrong.answer})...)
		if err := api.migrate(t.Context(), story); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: %v, want %q, and the status unchanged", wrong.answer, err, wrong.want)
		}
	}
	if err := newAPI(t, exchange{Request: get, Code: 200, Answer: says(t, "v1beta1", "v1beta1")}).migrate(t.Context(), story); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
