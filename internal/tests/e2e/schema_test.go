//go:build integration

package e2e

import (
	"math"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

func (s *server) createProject(name string, replicas int32) {
	s.Helper()
	project := &examplesv1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: examplesv1alpha1.ProjectSpec{Replicas: replicas}}
	if _, err := s.client.ExamplesV1alpha1().Projects(s.namespace).Create(s.Context(), project, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// The API server rejects invalid values with the name of the field, and admits valid ones.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	client := dynamic.NewForConfigOrDie(s.config)
	foo, project := v1alpha1.SchemeGroupVersion.WithResource("foos"), examplesv1alpha1.SchemeGroupVersion.WithResource("projects")
	for _, test := range []struct {
		reason   string
		resource schema.GroupVersionResource
		kind     string
		spec     map[string]any
		refused  string // part of the error, "" if it is admitted
	}{
		{"the official example", foo, "Foo", map[string]any{"deploymentName": "example-foo", "replicas": int64(1)}, ""},
		{"no replicas: an autoscaler's to choose", foo, "Foo", map[string]any{"deploymentName": "d"}, ""},
		{"null replicas, as the official client sends them", foo, "Foo", map[string]any{"deploymentName": "d", "replicas": nil}, ""},
		{"none wanted", foo, "Foo", map[string]any{"deploymentName": "d", "replicas": int64(0)}, ""},
		{"no deploymentName", foo, "Foo", map[string]any{"replicas": int64(1)}, "spec.deploymentName: Required"},
		{"an empty deploymentName", foo, "Foo", map[string]any{"deploymentName": ""}, "spec.deploymentName"},
		{"no name of a Deployment", foo, "Foo", map[string]any{"deploymentName": "../x"}, "spec.deploymentName"},
		{"upper case", foo, "Foo", map[string]any{"deploymentName": "Upper"}, "spec.deploymentName"},
		{"253 characters", foo, "Foo", map[string]any{"deploymentName": strings.Repeat("n", 253)}, ""},
		{"254 characters", foo, "Foo", map[string]any{"deploymentName": strings.Repeat("n", 254)}, "spec.deploymentName"},
		{"too many replicas", foo, "Foo", map[string]any{"deploymentName": "d", "replicas": int64(11)}, "spec.replicas"},
		{"negative replicas", foo, "Foo", map[string]any{"deploymentName": "d", "replicas": int64(-1)}, "spec.replicas"},
		{"replicas in words", foo, "Foo", map[string]any{"deploymentName": "d", "replicas": "three"}, "spec.replicas"},
		{"a misspelled field", foo, "Foo", map[string]any{"deploymentName": "d", "replica": int64(1)}, `unknown field "spec.replica"`},
		{"no spec", foo, "Foo", nil, "spec: Required"},
		{"a Project", project, "Project", map[string]any{"replicas": int64(1)}, ""},
		{"a Project with as many as Go can hold", project, "Project", map[string]any{"replicas": int64(math.MaxInt32)}, ""},
		{"a Project without replicas", project, "Project", map[string]any{}, "spec.replicas: Required"},
		{"a Project with none", project, "Project", map[string]any{"replicas": int64(0)}, "spec.replicas"},
		{"a Project with a misspelled field", project, "Project", map[string]any{"replicas": int64(1), "replica": int64(1)}, `unknown field "spec.replica"`},
	} {
		t.Run(test.kind+": "+test.reason, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": test.resource.GroupVersion().String(), "kind": test.kind,
				"metadata": map[string]any{"generateName": "schema-"},
			}}
			if test.spec != nil {
				object.Object["spec"] = test.spec
			}
			// kubectl asks for strict validation, too.
			_, err := client.Resource(test.resource).Namespace(s.namespace).Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("error %v, want one that says %q", err, test.refused)
			case test.refused != "" && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err):
				t.Errorf("error of type %s, want Invalid or BadRequest", apierrors.ReasonForError(err))
			}
		})
	}
}

// Values that Go can express but the schema forbids are rejected with the field's name.
func TestRefusedStatus(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	foos := s.client.SamplecontrollerV1alpha1().Foos(s.namespace)
	foo := s.createFoo("foo", spec("deployment", 1))
	good := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now(), Reason: "Fine"}
	for field, spoil := range map[string]func(c *metav1.Condition){
		"status.conditions[0].type":               func(c *metav1.Condition) { c.Type = "not a type" },
		"status.conditions[0].status":             func(c *metav1.Condition) { c.Status = "true" },
		"status.conditions[0].reason":             func(c *metav1.Condition) { c.Reason = "" },
		"status.conditions[0].lastTransitionTime": func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} },
		"status.conditions[0].observedGeneration": func(c *metav1.Condition) { c.ObservedGeneration = -1 },
		"status.conditions[0].message":            func(c *metav1.Condition) { c.Message = strings.Repeat("m", 32769) },
	} {
		bad := foo.DeepCopy()
		bad.Status.Conditions = []metav1.Condition{good}
		spoil(&bad.Status.Conditions[0])
		if _, err := foos.UpdateStatus(t.Context(), bad, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v, want Invalid and %s", err, field)
		}
	}
	twice := foo.DeepCopy()
	twice.Status.Conditions = []metav1.Condition{good, good}
	if _, err := foos.UpdateStatus(t.Context(), twice, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.conditions[1]: Duplicate") {
		t.Errorf("two conditions of one type: error %v, want Invalid", err)
	}
}
