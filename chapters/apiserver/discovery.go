package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// discoveryType is the type of the aggregated document, as clients ask for it.
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

//go:embed discovery.yaml
var discoveryText []byte

//go:embed openapi.yaml
var openAPIText []byte

// documents are what is no resource, by path: which versions and kinds there are, and what
// fields they have. The API server asks, for itself, and puts the answers together with its
// own. If /apis/GROUP/VERSION is no success, the APIService is not available; what /apis
// says is where kubectl learns of these kinds.
func documents() map[string]handle {
	var aggregated apidiscoveryv2.APIGroupDiscoveryList
	utilruntime.Must(yaml.UnmarshalStrict(discoveryText, &aggregated))
	paths := map[string]any{}
	documents := map[string]handle{
		"/apis": func(_ *server, w *answerWriter, _ *request) error {
			// The API server looks at the type of the answer. Without it, it asks for the
			// older form.
			w.Header().Set("Content-Type", discoveryType)
			return w.send(http.StatusOK, aggregated)
		},
		"/openapi/v3": document(map[string]any{"paths": paths}),
	}
	// The same in the older form, one document for each version.
	_, resources, _ := discovery.SplitGroupsAndResources(aggregated)
	for version, list := range resources {
		list.TypeMeta = metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}
		documents["/apis/"+version.String()] = document(list)
		// kubectl keeps what it has read under this URL. So another document needs another
		// hash.
		path := "apis/" + version.String()
		paths[path] = map[string]string{"serverRelativeURL": fmt.Sprintf("/openapi/v3/%s?hash=%X", path, sha256.Sum256(openAPI))}
		documents["/openapi/v3/"+path] = document(openAPI)
	}
	return documents
}

func document(content any) handle {
	return func(_ *server, w *answerWriter, _ *request) error { return w.send(http.StatusOK, content) }
}

// openAPI says which fields there are, one document for all versions. kubectl explain prints it,
// and server-side apply merges by its models. The second version of OpenAPI is not served:
// nothing has needed it since kubectl 1.27.
//
// A 404 on /openapi/v3 would be for ever: the API server would take this one for a server
// from before OpenAPI v3, until its APIService is made anew. So it is served before there is
// an APIService.
var openAPI, models = func() (json.RawMessage, map[string]*spec.Schema) {
	text, err := yaml.YAMLToJSONStrict(openAPIText)
	utilruntime.Must(err)
	var parsed struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	utilruntime.Must(json.Unmarshal(text, &parsed))
	return text, parsed.Components.Schemas
}()
