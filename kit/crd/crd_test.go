package crd_test

import (
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"example.com/byhand/kit/crd"
)

type phase string

// spec has each Go type whose schema has a different name or form.
type spec struct {
	Phase   phase                        `json:"phase"`
	Every   metav1.Duration              `json:"every"`
	Since   *metav1.MicroTime            `json:"since,omitempty"`
	Size    resource.Quantity            `json:"size"`
	Port    *intstr.IntOrString          `json:"port,omitempty"`
	Secret  []byte                       `json:"secret,omitempty"`
	Others  map[string]resource.Quantity `json:"others,omitempty"`
	Phases  []phase                      `json:"phases,omitempty"`
	Enabled *bool                        `json:"enabled,omitempty"`
}

const thing = `
type: object
required: [every, phase, size]
properties:
  phase: {description: phase., type: string}
  every: {description: every., type: string}
  since: {description: since., type: string, format: date-time}
  size: {description: size., x-kubernetes-int-or-string: true}
  port: {description: port., x-kubernetes-int-or-string: true}
  secret: {description: secret., type: string, format: byte}
  others: {description: others., type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
  phases: {description: phases., type: array, items: {type: string}}
  enabled: {description: enabled., type: boolean}
`

// A correct schema passes, whatever the types. TestMistakes of tools/new covers wrong ones.
func TestCompare(t *testing.T) {
	var s apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(thing), &s); err != nil {
		t.Fatal(err)
	}
	crd.Compare(t, "Thing.spec", reflect.TypeFor[spec](), &s)
}
