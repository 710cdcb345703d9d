package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// documents are what is no resource, by path. The API server asks, and puts the answers together with
// its own: from there kubectl has them.
var documents = map[string]handle{
	"/apis/" + version.String(): document(metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version.String(),
		APIResources: []metav1.APIResource{{
			Name: resource.Resource, SingularName: "topping", ShortNames: []string{"tp"}, Kind: kind.Kind,
			Verbs: metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"},
		}},
	}),
	"/openapi/v3": document(map[string]any{"paths": map[string]any{
		// kubectl keeps what it has read under this URL: another document needs another hash.
		"apis/" + version.String(): map[string]string{"serverRelativeURL": fmt.Sprintf("/openapi/v3/apis/%s?hash=%X", version, sha256.Sum256(openAPI))},
	}}),
	"/openapi/v3/apis/" + version.String(): document(openAPI),
}

func document(content any) handle {
	return func(_ *server, w http.ResponseWriter, _ *request) error { return send(w, http.StatusOK, content) }
}

//go:embed openapi.yaml
var openAPIText []byte

// kubectl explain prints openAPI, and server-side apply merges by its models.
var openAPI, models = func() (json.RawMessage, map[string]*spec.Schema) {
	text, err := yaml.YAMLToJSONStrict(openAPIText)
	utilruntime.Must(err)
	var parsed struct {
		Components struct{ Schemas map[string]*spec.Schema }
	}
	utilruntime.Must(json.Unmarshal(text, &parsed))
	return text, parsed.Components.Schemas
}()
