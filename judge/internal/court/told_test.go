package court

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/judge/story"
	"example.com/byhand/kit/testkit"
)

// What cannot be judged ends with a word about what to do.
func TestStoryThatCannotBeJudged(t *testing.T) {
	told, err := readStory("../../story/foos.yaml")
	if err != nil {
		t.Fatal(err)
	}
	told.seen[schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}] = true
	_, quick := do(t.Context(), options{story: "../../story/foos.yaml", quick: true})
	for want, err := range map[string]error{
		"in place of -quick choose, as in -scenario":            quick,
		"foos.yaml:6: after no step has kubectl left an object": told.hasUsers(),
		"(it reads: configmaps)":                                told.hasUsers(),
		"foos.yaml:6: in no step has the program written":       told.hasWrites(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	told.users["foos"] = true
	if err := told.hasUsers(); err != nil {
		t.Errorf("there is a Foo, and the error is %v", err)
	}
	told.writes = [][]request{nil, {{}}}
	if err := told.hasWrites(); err != nil {
		t.Errorf("there is a write, and the error is %v", err)
	}
}

// Two of what is to be one are too many. Old and new ones that overlap without a fault, too, may overlap more with it.
func TestExceeds(t *testing.T) {
	create := request{testkit.Request{Method: http.MethodPost, Target: testkit.Target{Resource: "pods"}, Stored: http.StatusCreated}}
	remove := request{testkit.Request{Method: http.MethodDelete, Target: testkit.Target{Resource: "pods"}, Stored: http.StatusOK}}
	another := request{testkit.Request{Method: http.MethodPost, Target: testkit.Target{Resource: "services"}, Stored: http.StatusCreated}}
	for name, test := range map[string]struct {
		before      int
		usual, sent []request
		want        bool
	}{
		"as usual":                              {0, []request{create}, []request{create, another}, false},
		"created twice":                         {0, []request{create}, []request{create, create}, true},
		"created before the old one is deleted": {1, []request{remove, create}, []request{create, remove}, true},
		"overlap in another order":              {2, []request{create, remove, create, remove}, []request{create, create, remove, remove}, false},
		"overlap, and one is created twice":     {2, []request{create, remove, create, remove}, []request{create, create, create, remove, remove}, true},
	} {
		if got := tallied("pods", test.before, test.sent).exceeds(tallied("pods", test.before, test.usual), test.before); got != test.want {
			t.Errorf("%s: too many is %t, want %t", name, got, test.want)
		}
	}
}

// A finding says how it is seen again, with the same command, and what is meant so is no finding.
func TestWord(t *testing.T) {
	told := &told{Story: &story.Story{File: "desk/judge.yaml", Allow: []story.Line{{Text: "drift pods .spec"}}}, controller: "./mine -v"}
	sc := &scenario{name: "drift"}
	f := found(P1, drifted, time.Now(), "seen")
	f.allow = []string{"drift pods .spec.image", "drift desks .spec.seats", "drift desks .spec.seats"}
	want := "seen\nSee it again: make judge STORY=desk/judge.yaml JUDGE='-scenario drift' CONTROLLER='./mine -v'. " +
		"If it is meant so, add to judge.yaml:\nallow:\n- drift desks .spec.seats"
	if is := told.word(sc, &f); !is || f.text != want {
		t.Errorf("is it a finding? %t: %q, want %q", is, f.text, want)
	}
	f.allow = []string{"drift pods .spec.image"}
	if told.word(sc, &f) {
		t.Error("what is meant so is a finding")
	}
}

// What the program changes without a fault counts also where it had nothing to change, and is not its own.
func TestLookAtWhatIsOnlyChanged(t *testing.T) {
	const name = "persistentvolumeclaims a"
	claim := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": object{"name": "a", "namespace": "here"}, "spec": object{"size": "10Gi", "node": "n"}}}
	written := metav1.NewFieldsV1(`{"f:spec":{"f:size":{},"f:node":{}}}`)
	claim.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubernetes", FieldsV1: written}})
	claims := corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	told := &told{seen: map[schema.GroupVersionResource]bool{claims: true}, managers: map[string]bool{agent: true}, sent: map[string]object{},
		ends: []story.Snapshot{{name: story.AnObject, name + " .spec.size": "15Gi"}}}
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, claim)
	s := &stage{world: &world{judge: &judge{told: told}}, ctx: t.Context(), namespace: "here", dynamic: client, part: &part{words: map[string]string{}}}
	now, objects, err := s.look()
	if diff := cmp.Diff(story.Snapshot{name: story.AnObject, name + " .spec.size": "10Gi"}, now); err != nil || diff != "" || len(objects) > 0 {
		t.Errorf("%v, %v, -want +got:\n%s", objects, err, diff)
	}
	claim.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: agent}})
	if o := (&stored{claim, claims, name}); told.isMade(o) {
		t.Error("the program creates no claim, and has made this one")
	}
}

// A list as of the version that is found has the user's object while it was being deleted.
func TestDyingSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testkit.NewAPIServer()
		client := dynamic.NewForConfigOrDie(api.Config())
		foos := v1alpha1.SchemeGroupVersion.WithResource("foos")
		s := &stage{world: &world{judge: &judge{told: &told{seen: map[schema.GroupVersionResource]bool{foos: true}, users: map[string]bool{"foos": true}}}},
			ctx: t.Context(), namespace: "default", dynamic: client}
		create := makeFoo("a", object{"deploymentName": "a", "replicas": 1}, "example.com/held")
		s.history = newHistory()
		before, err := s.version()
		if err := errors.Join(err, create(s)); err != nil {
			t.Fatal(err)
		}
		if dying, err := s.dyingSince(before); err != nil || dying != "" {
			t.Errorf("nothing was deleted: %q, %v", dying, err)
		}
		free := func(*stage) error {
			_, err := s.client(foos).Patch(t.Context(), "a", mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			return err
		}
		for _, step := range []step{deleteFoo("a", metav1.DeletePropagationBackground), free, create} {
			if err := step(s); err != nil {
				t.Fatal(err)
			}
		}
		dying, err := s.dyingSince(before)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.client(foos).List(t.Context(), metav1.ListOptions{ResourceVersion: dying, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetDeletionTimestamp() == nil {
			t.Errorf("as of %q there is %v (%v)", dying, list, err)
		}
	})
}

// A gap that is there without a fault is told once, and not of each fault.
func TestGapWithoutAFault(t *testing.T) {
	send := func(method, path string, code int) request {
		return request{testkit.Request{Method: method, Target: testkit.TargetOf(path), Stored: code}}
	}
	const sets = "/apis/apps/v1/namespaces/here/statefulsets"
	remove, create := send(http.MethodDelete, sets+"/a", http.StatusOK), send(http.MethodPost, sets, http.StatusCreated)
	set := &stored{resource: schema.GroupVersionResource{Resource: "statefulsets"}}
	for name, test := range map[string]struct {
		usual []request
		learn bool
		want  int
	}{
		"without a fault":    {[]request{remove, create}, true, 1},
		"as without a fault": {[]request{remove, create}, false, 0},
		"because of a fault": {[]request{create, remove}, false, 1},
	} {
		told := &told{Story: &story.Story{Steps: []story.Step{{}, {}}}, made: [][]*stored{{set}, {set}}, writes: [][]request{nil, test.usual}}
		s := &stage{world: &world{judge: &judge{told: told}}, scenario: &scenario{calibrates: test.learn}, namespace: "here", part: &part{began: []time.Time{{}}}}
		s.proxy = &testkit.Faults{Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(map[string]int{http.MethodDelete: http.StatusOK, http.MethodPost: http.StatusCreated}[r.Method])
		})}
		s.proxy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, sets+"/a", nil))
		s.proxy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, sets, strings.NewReader("{}")))
		if err := counted(1)(s); err != nil || len(s.findings) != test.want {
			t.Errorf("%s: %v, want %d findings; %v", name, s.findings, test.want, err)
		}
	}
}
