package main

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// schemas has a file for each version, and one for what all objects have.
//
//go:embed openapi/*.yaml
var schemas embed.FS

// openAPI says which fields there are. kubectl explain prints it, and server-side apply
// merges by it.
type openAPI struct {
	// index lists the documents, and documents has them by path.
	index     map[string]any
	documents map[string]json.RawMessage
	// models are the schemas of all versions.
	models map[string]*spec.Schema
}

func newOpenAPI() (*openAPI, error) {
	o := &openAPI{documents: map[string]json.RawMessage{}, models: map[string]*spec.Schema{}}
	paths := map[string]any{}
	for _, version := range versions {
		schemas, err := readSchemas(version)
		if err != nil {
			return nil, err
		}
		document, err := json.Marshal(map[string]any{
			"openapi":    "3.0.0",
			"info":       map[string]string{"title": "restaurant", "version": version},
			"paths":      operations(version),
			"components": map[string]any{"schemas": schemas},
		})
		if err != nil {
			return nil, err
		}
		path := "apis/" + group + "/" + version
		o.documents["/openapi/v3/"+path] = document
		// kubectl keeps what it has read under this URL. So another document needs
		// another hash.
		url := fmt.Sprintf("/openapi/v3/%s?hash=%X", path, sha256.Sum256(document))
		paths[path] = map[string]string{"serverRelativeURL": url}

		text, err := json.Marshal(schemas)
		if err == nil {
			err = json.Unmarshal(text, &o.models)
		}
		if err != nil {
			return nil, err
		}
	}
	o.index = map[string]any{"paths": paths}
	return o, nil
}

// readSchemas reads the schemas of a version. The extension says which of them is a kind.
func readSchemas(version string) (map[string]any, error) {
	schemas := map[string]any{}
	for _, name := range []string{"meta", version} {
		text, err := readSchemaFile(name)
		if err == nil {
			err = yaml.UnmarshalStrict(text, &schemas)
		}
		if err != nil {
			return nil, fmt.Errorf("openapi/%s.yaml: %w", name, err)
		}
	}
	for _, kind := range kinds {
		schema, ok := schemas[version+"."+kind.name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("openapi/%s.yaml has no %s", version, kind.name)
		}
		schema[gvkExtension] = []any{gvkOf(kind, version)}
	}
	return schemas, nil
}

func readSchemaFile(name string) ([]byte, error) {
	return schemas.ReadFile("openapi/" + name + ".yaml")
}

const gvkExtension = "x-kubernetes-group-version-kind"

func gvkOf(k *kind, version string) map[string]any {
	return map[string]any{"group": group, "version": version, "kind": k.name}
}

// operations lists the paths with their methods, as far as anybody reads them: explain looks
// for the kind of a path, and kubectl looks at PATCH, what it may send there.
func operations(version string) map[string]any {
	paths := map[string]any{}
	for _, kind := range kinds {
		collection := "/apis/" + group + "/" + version + "/"
		if kind.namespaced {
			collection += "namespaces/{namespace}/"
		}
		collection += kind.resource
		operation := func(method string) map[string]any {
			return map[string]any{
				"operationId": method + kind.name,
				gvkExtension:  gvkOf(kind, version),
				"responses":   map[string]any{"200": map[string]any{"description": "OK"}},
			}
		}
		patch := operation("patch")
		patch["parameters"] = parameters("dryRun", "fieldManager", "fieldValidation", "force")
		patch["requestBody"] = map[string]any{"content": map[string]any{
			string(types.JSONPatchType): map[string]any{}, string(types.MergePatchType): map[string]any{}, string(types.ApplyYAMLPatchType): map[string]any{},
		}}
		paths[collection] = map[string]any{"get": operation("list"), "post": operation("create"), "delete": operation("deleteCollection")}
		paths[collection+"/{name}"] = map[string]any{"get": operation("read"), "put": operation("replace"), "patch": patch, "delete": operation("delete")}
	}
	return paths
}

func parameters(names ...string) (out []any) {
	for _, name := range names {
		out = append(out, map[string]any{"in": "query", "name": name, "schema": map[string]string{"type": "string"}})
	}
	return out
}

// serve answers /openapi/v3 and the documents that it names. The second version of OpenAPI
// is not served: nothing has needed it since kubectl 1.27.
//
// A 404 here would be for ever: the API server would take this one for a server from before
// OpenAPI v3, until its APIService is made anew. So this answers from the first moment on.
func (o *openAPI) serve(w *answerWriter, r *request) error {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if path == "/openapi/v3" {
		return w.send(http.StatusOK, o.index)
	}
	document, ok := o.documents[path]
	if !ok {
		return notFound(r)
	}
	return w.send(http.StatusOK, document)
}
