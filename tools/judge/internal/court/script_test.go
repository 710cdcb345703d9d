package court

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/script"
)

// What cannot be judged ends with a word about what to do.
func TestScriptThatCannotBeJudged(t *testing.T) {
	told := must(readScript("../../script/foos.yaml"))
	told.seen.Store(corev1.SchemeGroupVersion.WithResource("configmaps"), true)
	_, quick := do(t.Context(), options{script: "../../script/foos.yaml", quick: true})
	nobody := told.worthwhile()
	told.users[v1alpha1.SchemeGroupVersion.WithResource("foos")] = true
	silent := told.worthwhile()
	told.ends = []end{{}, {writes: []request{{}}}}
	for want, err := range map[string]error{
		"in place of -quick choose, as in -scenario":            quick,
		"foos.yaml:6: after no step has kubectl left an object": nobody,
		"(it reads: configmaps)":                                nobody,
		"foos.yaml:6: in no step has the program written":       silent,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	if err := told.worthwhile(); err != nil {
		t.Errorf("there are a Foo and a write, and the error is %v", err)
	}
}

// A finding says how it is seen again, with the same command, and what is meant so is no finding.
func TestWord(t *testing.T) {
	told := &told{Script: &script.Script{File: "desk/judge.yaml", Allow: []script.Line{{Text: "drift pods .spec"}}}, controller: "./mine -v"}
	sc := &scenario{name: "drift"}
	f := found(P1, drifted, time.Now(), "seen")
	f.allow = []string{"drift pods .spec.image", "drift desks .spec.seats", "drift desks .spec.seats"}
	want := "seen\nSee it again: make judge SCRIPT=desk/judge.yaml JUDGE='-scenario drift' CONTROLLER='./mine -v'. " +
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
	told := &told{ends: []end{{stored: script.Snapshot{name: script.AnObject, name + " .spec.size": "15Gi"}}}}
	told.seen.Store(claims, true)
	told.managers.Store(agent, true)
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, claim)
	s := &stage{world: &world{judge: &judge{told: told}}, ctx: t.Context(), namespace: "here", dynamic: client, part: &part{}}
	now, objects := s.look()
	if diff := cmp.Diff(script.Snapshot{name: script.AnObject, name + " .spec.size": "10Gi"}, now); diff != "" || len(objects) > 0 {
		t.Errorf("%v, -want +got:\n%s", objects, diff)
	}
	claim.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: agent}})
	if o := (&stored{claim, claims, name}); told.isMade(o) {
		t.Error("the program creates no claim, and has made this one")
	}
}

// A list as of the version that is found has the user's object while it was being deleted.
func TestDyingSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foos := v1alpha1.SchemeGroupVersion.WithResource("foos")
		s := &stage{world: &world{judge: &judge{told: &told{users: map[schema.GroupVersionResource]bool{foos: true}}}},
			ctx: t.Context(), namespace: "default", dynamic: dynamic.NewForConfigOrDie(tests.NewAPIServer().Config()), history: newHistory()}
		create := makeFoo("a", object{"deploymentName": "a", "replicas": 1}, "example.com/held")
		before := s.version()
		create(s)
		if dying := s.dyingSince(before); dying != "" {
			t.Errorf("nothing was deleted: %q", dying)
		}
		deleteFoo("a", metav1.DeletePropagationBackground)(s)
		must(s.client(foos).Patch(t.Context(), "a", mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
		create(s)
		dying := s.dyingSince(before)
		list, err := s.client(foos).List(t.Context(), metav1.ListOptions{ResourceVersion: dying, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetDeletionTimestamp() == nil {
			t.Errorf("as of %q there is %v (%v)", dying, list, err)
		}
	})
}

// What the program deletes may leave what it has made, whatever format says so, until it is deleted in another way.
func TestHearsOrphans(t *testing.T) {
	const path = "/apis/apps/v1/namespaces/here/statefulsets/a"
	told, inProtobuf := &told{}, must((&metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}).Marshal())
	for _, test := range []struct {
		query, body string
		want        bool
	}{
		{"", `{"propagationPolicy":"Orphan"}`, true}, {"", `{"propagationPolicy":"Background"}`, false}, {"", string(inProtobuf), true},
		{"", "", false}, {"?propagationPolicy=Orphan", "", true},
	} {
		r := httptest.NewRequest(http.MethodDelete, path+test.query, strings.NewReader(test.body))
		told.hear(r)
		orphans, _ := told.orphans.Load(path)
		if passed, err := io.ReadAll(r.Body); orphans != test.want || err != nil || string(passed) != test.body {
			t.Errorf("%q, %q: it orphans: %t; passed on: %q, %v", test.query, test.body, orphans, passed, err)
		}
	}
}

// Two of what is to be one are too many, and a moment with none is a gap, which is told once if it is there without a fault, too. Old
// and new ones that overlap without a fault may overlap more with it.
func TestCounted(t *testing.T) {
	const pods = "/api/v1/namespaces/here/pods"
	create := request{testkit.Request{Method: http.MethodPost, Target: testkit.TargetOf(pods), Stored: http.StatusCreated}}
	remove := request{testkit.Request{Method: http.MethodDelete, Target: testkit.TargetOf(pods + "/a"), Stored: http.StatusOK}}
	lets := request{testkit.Request{Method: http.MethodDelete, Path: pods + "/runs-on", Target: testkit.TargetOf(pods + "/runs-on"), Stored: http.StatusOK}}
	another := request{testkit.Request{Method: http.MethodPost, Target: testkit.TargetOf("/api/v1/namespaces/here/services"), Stored: http.StatusCreated}}
	pod := &stored{resource: corev1.SchemeGroupVersion.WithResource("pods")}
	for name, test := range map[string]struct {
		before, after int
		usual, sent   []request
		learns        bool
		want          []*lesson
	}{
		"as usual":                              {0, 1, []request{create}, []request{create, another}, false, nil},
		"created twice":                         {0, 1, []request{create}, []request{create, create}, false, []*lesson{twice}},
		"created before the old one is deleted": {1, 1, []request{remove, create}, []request{create, remove}, false, []*lesson{twice}},
		"overlap in another order":              {2, 2, []request{create, remove, create, remove}, []request{create, create, remove, remove}, false, nil},
		"overlap, and one is created twice":     {2, 2, []request{create, remove, create, remove}, []request{create, create, create, remove, remove}, false, []*lesson{twice}},
		"a gap without a fault":                 {1, 1, []request{remove, create}, []request{remove, create}, true, []*lesson{gap}},
		"a gap as without a fault":              {1, 1, []request{remove, create}, []request{remove, create}, false, nil},
		"a gap because of a fault":              {1, 1, []request{create, remove}, []request{remove, create}, false, []*lesson{gap}},
		"deleted, and what it made runs on":     {1, 1, []request{lets, create}, []request{lets, create}, true, nil},
		"that, and another is deleted":          {1, 1, []request{lets, create}, []request{lets, remove, create, create}, false, []*lesson{gap}},
		"others delete some":                    {1, 0, nil, []request{create}, false, nil},
	} {
		told := &told{Script: &script.Script{Steps: []script.Step{{}, {}}}, ends: []end{{made: slices.Repeat([]*stored{pod}, test.before)},
			{made: slices.Repeat([]*stored{pod}, test.after), writes: test.usual}}}
		told.orphans.Store(pods+"/runs-on", true)
		s := &stage{world: &world{judge: &judge{told: told}}, scenario: &scenario{calibrates: test.learns}, part: &part{step: 1}}
		s.count(test.sent)
		var got []*lesson
		for _, f := range s.findings {
			got = append(got, f.lesson)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, s.findings)
		}
	}
}
