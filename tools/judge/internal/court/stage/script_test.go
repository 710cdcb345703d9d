package stage

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// A finding has the command that reproduces it. An allowed one is dropped.
func TestWord(t *testing.T) {
	told := &Told{Script: &script.Script{File: "desk/judge.yaml", Allow: []script.Line{{Text: "drift pods .spec"}}}, Controller: "./mine -v"}
	sc := &Scenario{Name: "drift"}
	f := verdict.Found(verdict.P1, verdict.Drifted, time.Now(), "seen")
	f.Allow = []string{"drift pods .spec.image", "drift desks .spec.seats", "drift desks .spec.seats"}
	want := "seen\nReproduce it: make judge SCRIPT=desk/judge.yaml JUDGE='-scenario drift' CONTROLLER='./mine -v'. " +
		"If this is intended, add to judge.yaml:\nallow:\n- drift desks .spec.seats"
	if is := told.word(sc, &f); !is || f.Text != want {
		t.Errorf("is it a finding? %t: %q, want %q", is, f.Text, want)
	}
	f.Allow = []string{"drift pods .spec.image"}
	if told.word(sc, &f) {
		t.Error("an allowed finding is reported")
	}
}

// Values that the program changes without a fault are compared, even if the object is not its own and needed
// no change.
func TestLookAtWhatIsOnlyChanged(t *testing.T) {
	const name = "persistentvolumeclaims a"
	claim := &unstructured.Unstructured{Object: Object{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": Object{"name": "a", "namespace": "here"}, "spec": Object{"size": "10Gi", "node": "n"}}}
	written := metav1.NewFieldsV1(`{"f:spec":{"f:size":{},"f:node":{}}}`)
	claim.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubernetes", FieldsV1: written}})
	claims := corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	told := &Told{Ends: []End{{Stored: script.Snapshot{name: script.AnObject, name + " .spec.size": "15Gi"}}}}
	told.Seen.Store(claims, true)
	told.managers.Store(agent, true)
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, claim)
	s := &Stage{World: &World{Judge: &Judge{Told: told}}, Ctx: t.Context(), Namespace: "here", Dynamic: client, Part: &Part{}}
	now, objects := s.Look()
	if diff := cmp.Diff(script.Snapshot{name: script.AnObject, name + " .spec.size": "10Gi"}, now); diff != "" || len(objects) > 0 {
		t.Errorf("%v, -want +got:\n%s", objects, diff)
	}
	claim.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: agent}})
	if o := (&Stored{claim, claims, name}); told.IsMade(o) {
		t.Error("the program creates no claim, and has made this one")
	}
}

// A DELETE may orphan dependents, in any format, until a later DELETE of the object does not.
func TestHearsOrphans(t *testing.T) {
	const path = "/apis/apps/v1/namespaces/here/statefulsets/a"
	told, inProtobuf := &Told{}, Must((&metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}).Marshal())
	for _, test := range []struct {
		query, body string
		want        bool
	}{
		{"", `{"propagationPolicy":"Orphan"}`, true}, {"", `{"propagationPolicy":"Background"}`, false}, {"", string(inProtobuf), true},
		{"", "", false}, {"?propagationPolicy=Orphan", "", true},
	} {
		r := httptest.NewRequest(http.MethodDelete, path+test.query, strings.NewReader(test.body))
		told.hear(r)
		orphans, _ := told.Orphans.Load(path)
		if passed, err := io.ReadAll(r.Body); orphans != test.want || err != nil || string(passed) != test.body {
			t.Errorf("%q, %q: it orphans: %t; passed on: %q, %v", test.query, test.body, orphans, passed, err)
		}
	}
}
