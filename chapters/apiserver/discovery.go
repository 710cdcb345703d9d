package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// discoveryType is the type of the aggregated document, as clients ask for it.
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// documents are what is no resource, by path: which versions and kinds there are, and what
// fields they have. The API server asks, for itself, and puts the answers together with its
// own. If /apis/GROUP/VERSION is no success, the APIService is not available; what /apis
// says is where kubectl learns of these kinds.
func (s *server) documents() map[string]handle {
	aggregated := groupDiscoveryList(s.stage)
	documents := map[string]handle{
		"/apis": func(_ *server, w *answerWriter, _ *request) error {
			// The API server looks at the type of the answer. Without it, it asks for the
			// older form.
			w.Header().Set("Content-Type", discoveryType)
			return w.send(http.StatusOK, aggregated)
		},
		"/openapi/v3": document(s.openAPI.index),
	}
	// The same in the older form, one document for each version.
	_, resources, _ := discovery.SplitGroupsAndResources(aggregated)
	for version, list := range resources {
		list.TypeMeta = metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}
		documents["/apis/"+version.String()] = document(list)
		documents["/openapi/v3/apis/"+version.String()] = document(s.openAPI.document)
	}
	return documents
}

func document(content any) handle {
	return func(_ *server, w *answerWriter, _ *request) error { return w.send(http.StatusOK, content) }
}

// groupDiscoveryList is all of it in one document (aggregated discovery, v2). A client does
// not try a verb that is missing here.
func groupDiscoveryList(stage int) apidiscoveryv2.APIGroupDiscoveryList {
	var names []string
	for _, verb := range verbs {
		if verb.stage <= stage {
			names = append(names, verb.name)
		}
	}
	discovered := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
	for _, version := range versions {
		out := apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		for _, kind := range kinds {
			resource := apidiscoveryv2.APIResourceDiscovery{
				Resource: kind.resource, SingularResource: kind.singular, ShortNames: kind.shortNames, Verbs: names,
				ResponseKind: new(metav1.GroupVersionKind(version.WithKind(kind.name))), Scope: apidiscoveryv2.ScopeCluster,
			}
			if kind.namespaced {
				resource.Scope = apidiscoveryv2.ScopeNamespace
			}
			if kind == pizzas {
				resource.Subresources = []apidiscoveryv2.APISubresourceDiscovery{{
					Subresource: "price", Verbs: []string{"get"},
					ResponseKind: new(metav1.GroupVersionKind(version.WithKind("PizzaPrice"))),
				}}
			}
			out.Resources = append(out.Resources, resource)
		}
		discovered.Versions = append(discovered.Versions, out)
	}
	return apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: typeMeta("APIGroupDiscoveryList", apidiscoveryv2.SchemeGroupVersion),
		Items:    []apidiscoveryv2.APIGroupDiscovery{discovered},
	}
}

//go:embed openapi.yaml
var openAPIText []byte

// openAPI says which fields there are. kubectl explain prints it, and server-side apply
// merges by it. The second version of OpenAPI is not served: nothing has needed it since
// kubectl 1.27.
//
// A 404 on /openapi/v3 would be for ever: the API server would take this one for a server
// from before OpenAPI v3, until its APIService is made anew. So it is served before there is
// an APIService.
type openAPI struct {
	// index says where the document of each version is: it is one for all.
	index    map[string]any
	document json.RawMessage
	// models are the schemas of all kinds.
	models map[string]*spec.Schema
}

func newOpenAPI() (*openAPI, error) {
	text, err := yaml.YAMLToJSONStrict(openAPIText)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var parsed struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	paths := map[string]any{}
	for _, version := range versions {
		path := "apis/" + version.String()
		// kubectl keeps what it has read under this URL. So another document needs another
		// hash.
		paths[path] = map[string]string{"serverRelativeURL": fmt.Sprintf("/openapi/v3/%s?hash=%X", path, sha256.Sum256(text))}
	}
	return &openAPI{index: map[string]any{"paths": paths}, document: text, models: parsed.Components.Schemas}, nil
}
