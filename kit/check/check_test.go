package check_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/byhand/kit/check"
	"example.com/byhand/kit/testkit"
)

// Thing has each type of which the schema differs from what Go has.
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ThingSpec `json:"spec"`
}

type Phase string

type ThingSpec struct {
	Phase   Phase                        `json:"phase"`
	Every   metav1.Duration              `json:"every"`
	Since   *metav1.MicroTime            `json:"since,omitempty"`
	Size    resource.Quantity            `json:"size"`
	Port    *intstr.IntOrString          `json:"port,omitempty"`
	Secret  []byte                       `json:"secret,omitempty"`
	Others  map[string]resource.Quantity `json:"others,omitempty"`
	Phases  []Phase                      `json:"phases,omitempty"`
	Enabled *bool                        `json:"enabled,omitempty"`
}

type ThingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Thing `json:"items"`
}

func (t *Thing) DeepCopyInto(out *Thing) {
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	t.Spec.DeepCopyInto(&out.Spec)
}

func (t *Thing) DeepCopyObject() runtime.Object {
	if t == nil {
		return nil
	}
	out := new(Thing)
	t.DeepCopyInto(out)
	return out
}

func (s *ThingSpec) DeepCopyInto(out *ThingSpec) {
	*out = *s
	out.Since = s.Since.DeepCopy()
	out.Size = s.Size.DeepCopy()
	if s.Port != nil {
		out.Port = new(*s.Port)
	}
	out.Secret = slices.Clone(s.Secret)
	out.Others = maps.Clone(s.Others)
	for name, quantity := range s.Others {
		out.Others[name] = quantity.DeepCopy()
	}
	out.Phases = slices.Clone(s.Phases)
	if s.Enabled != nil {
		out.Enabled = new(*s.Enabled)
	}
}

func (l *ThingList) DeepCopyInto(out *ThingList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	if l.Items != nil {
		out.Items = make([]Thing, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
}

func (l *ThingList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := new(ThingList)
	l.DeepCopyInto(out)
	return out
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.test.example.com}
spec:
  group: test.example.com
  scope: Cluster
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions:
    - name: v2
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          description: Thing.
          type: object
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              description: spec.
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

const sample = `
apiVersion: test.example.com/v2
kind: Thing
metadata: {name: one}
spec: {phase: New, every: 90s, size: 1Gi, port: 80, secret: YQ==, others: {a: 1, b: 2Mi}, phases: [New], enabled: true}
`

const role = `
rules:
  - {apiGroups: [test.example.com], resources: [things], verbs: [list, watch]}
  - {apiGroups: [test.example.com], resources: [things/status], verbs: [update]}
  - {apiGroups: [test.example.com], resources: [things/finalizers], verbs: [update]}
`

func write(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A kind that is right passes, whatever its types. What is wrong is said by TestMistakes of
// folder exercise.
func TestKind(t *testing.T) {
	version, scheme := schema.GroupVersion{Group: "test.example.com", Version: "v2"}, runtime.NewScheme()
	scheme.AddKnownTypes(version, &Thing{}, &ThingList{})
	metav1.AddToGroupVersion(scheme, version)
	parts := check.Kind{Scheme: scheme, Owner: version.WithKind("Thing"), Plural: "things", ClusterScoped: true, CRD: write(t, definition), Sample: write(t, sample)}
	parts.Test(t)
}

// An informer's watch needs list as well; discovery needs no right of its own.
func TestRole(t *testing.T) {
	request := func(method, path string, watch bool) testkit.Request {
		return testkit.Request{Method: method, Path: path, Target: testkit.TargetOf(path), Watch: watch}
	}
	check.Role(t, write(t, role), []testkit.Request{
		request("GET", "/version", false),
		request("GET", "/apis/test.example.com/v2/things", true),
		request("PUT", "/apis/test.example.com/v2/things/one/status", false),
	}, "update things/finalizers")
}
