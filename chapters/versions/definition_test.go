package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"

	"example.com/byhand/chapters/internal/chaptertest"
)

type exchange = chaptertest.Exchange

// newAPI returns an api whose server expects these requests, in this order.
func newAPI(t *testing.T, exchanges ...exchange) *api {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(chaptertest.Expect(t, exchanges...))
	if err != nil {
		t.Fatal(err)
	}
	return &api{client.RESTClient()}
}

const address = "https://127.0.0.1:1/convert"

// says returns a definition that names this program as its webhook.
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
	// webhookHere is the part of a patch that sets this program as the webhook.
	webhookHere = `,{"op":"add","path":"/spec/conversion","value":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"` + address + `","caBundle":"Q0E="},"conversionReviewVersions":["v1"]}}}]`
)

// serves returns the part of a patch that sets the served versions.
func serves(alpha, beta bool) string {
	return fmt.Sprintf(`{"op":"replace","path":"/spec/versions/0/served","value":%t},{"op":"replace","path":"/spec/versions/1/served","value":%t}`, alpha, beta)
}

// TestInstall: one write adds the webhook and v1beta1. If another client writes first, it is built
// again from the new definition.
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
	if err := requests.install(t.Context(), address, []byte("CA")); err != nil {
		t.Error(err)
	}
}

// TestLeave: the webhook is removed only if each Pizza is stored as config/crd specifies. The storage
// version is always served.
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
		{"without a migration", says(t, "v1alpha1", "v1alpha1"), serves(true, false) + none, onlyAlpha, "removed: "},
		{"after a migration", says(t, "v1beta1", "v1beta1"), serves(false, true) + "]", onlyBeta, "kept: "},
		{"during a migration back", says(t, "v1alpha1", "v1beta1", "v1alpha1"), serves(true, false) + "]", onlyAlpha, "kept: "},
		{"another process is the webhook", strings.Replace(says(t, "v1alpha1", "v1alpha1"), address, "https://127.0.0.1:2/convert", 1), "", nil, "unchanged: "},
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
}
