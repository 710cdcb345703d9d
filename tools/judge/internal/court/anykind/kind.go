package anykind

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/byhand/kit/crd"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/script"
)

// ReadKind reads the CRD and the sample in a program's folder config, as created by make new. It returns a
// built-in script about the sample, or nil without a CRD.
func ReadKind(dir string) (*stage.Told, error) {
	definition, err := os.ReadFile(filepath.Join(dir, "config", "crd.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	k := &stage.Kind{Sample: &unstructured.Unstructured{}}
	sample, sampleErr := os.ReadFile(filepath.Join(dir, "config", "sample.yaml"))
	if err := cmp.Or(err, sampleErr); err != nil {
		return nil, err
	}
	if k.Resource, err = crd.Resource(definition); err != nil {
		return nil, err
	}
	t := newTold(&script.Script{File: filepath.Join("config", "sample.yaml")})
	t.Kind = k
	for _, step := range builtIn {
		t.Steps = append(t.Steps, script.Step{Name: step.name, Line: script.Line{At: 1}})
	}
	return t, yaml.Unmarshal(sample, &k.Sample.Object)
}

// builtIn has the steps of a kind in memory. A user creates the sample, changes the first value of its spec
// that may change according to the schema, and deletes it.
var builtIn = []struct {
	name string
	play func(s *stage.Stage, k *stage.Kind, path string)
}{
	{"create", func(s *stage.Stage, k *stage.Kind, path string) { s.Api.Add(path, k.Sample.DeepCopy()) }},
	{"change", func(s *stage.Stage, k *stage.Kind, path string) {
		s.Api.Edit(path, func(object *unstructured.Unstructured) {
			for _, leaf := range script.Leaves(object.Object) {
				leaf.Set(leaf.Other())
				if len(k.Schema.Validate(object.Object, nil)) == 0 {
					return
				}
				leaf.Set(leaf.Value)
			}
		})
	}},
	{"delete", func(s *stage.Stage, _ *stage.Kind, path string) {
		s.Api.Delete(path, metav1.DeletePropagationBackground)
	}},
}
