package anykind

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// The error for a script that cannot be judged suggests what to do.
func TestScriptThatCannotBeJudged(t *testing.T) {
	told := stage.Must(ReadScript("../../../script/foos.yaml"))
	told.Seen.Store(corev1.SchemeGroupVersion.WithResource("configmaps"), true)
	nobody := worthwhile(told)
	told.Users[v1alpha1.SchemeGroupVersion.WithResource("foos")] = true
	silent := worthwhile(told)
	told.Ends = []stage.End{{}, {Writes: []verdict.Request{{}}}}
	for want, err := range map[string]error{
		"foos.yaml:6: after no step does the namespace have an object": nobody,
		"(it reads: configmaps)":                                   nobody,
		"foos.yaml:6: the program has written nothing in any step": silent,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	if err := worthwhile(told); err != nil {
		t.Errorf("there are a Foo and a write, and the error is %v", err)
	}
}

// A scenario that tests nothing gives a reason instead of a verdict. Either the program only writes the
// status of the user's objects, or no request met the fault.
func TestNothingIsTested(t *testing.T) {
	told := &stage.Told{Script: &script.Script{Steps: []script.Step{{}, {}}}, Ends: []stage.End{{Stored: script.Snapshot{"foos a": script.AnObject}}, {}}}
	s := &stage.Stage{World: &stage.World{Judge: &stage.Judge{Told: told}}}
	for reason, step := range map[string]stage.Step{"creates no object": makes, "no request to which the fault applies": met, "no object exists after the step": startsAfter(1)} {
		if err := stage.Try(func() { step(s) }); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("the error is %v, want one with %q", err, reason)
		}
	}
	s.Met.Add(1)
	told.Ends[0].Made = []*stage.Stored{{}}
	if err := stage.Try(func() { makes(s); met(s) }); err != nil {
		t.Error(err)
	}
}

// A fault meets each write of the user's objects, but no access review.
func TestWhatIsRejected(t *testing.T) {
	judge := &stage.Judge{Told: &stage.Told{}}
	s := &stage.Stage{World: &stage.World{Judge: judge}}
	for path, want := range map[string]bool{
		"/apis/samplecontroller.k8s.io/v1alpha1/namespaces/here/foos/a/status": true,
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":               false,
		"/apis/coordination.k8s.io/v1/namespaces/here/leases/a":                false,
	} {
		if got := scenario.WritesMade(s, httptest.NewRequest(http.MethodPut, path, nil)) && !stage.Spared(testkit.TargetOf(path)); got != want {
			t.Errorf("%s is rejected: %t", path, got)
		}
	}
}

// The learned result has the values of new objects, including "", and a hint at a step in which the program
// writes nothing.
func TestPrint(t *testing.T) {
	told := &stage.Told{Script: &script.Script{Steps: []script.Step{{Name: "create"}, {Name: "pause"}}}, Masked: map[string]bool{"pods a .spec.node": true}}
	pod := script.Snapshot{"pods a": script.AnObject, "pods a .spec.image": "i", "pods a .status.message": `""`, "pods a .spec.node": "n"}
	told.Ends = []stage.End{{Stored: pod, Writes: []verdict.Request{{}}}, {Stored: pod}}
	var got strings.Builder
	print(told, &got)
	const want = "\ncreate: # 1 writes\n  pods a: an object\n  pods a .spec.image: i\n  pods a .status.message: \"\"\npause: # 0 writes\n  # The program wrote nothing"
	if !strings.Contains(got.String(), want) {
		t.Errorf("%q is not in:\n%s", want, &got)
	}
}

// A single run in which the program falls short does not decide which values are ignored.
func TestLearn(t *testing.T) {
	told, runs := &stage.Told{Script: &script.Script{Steps: []script.Step{{}}}, Masked: map[string]bool{}, Users: map[schema.GroupVersionResource]bool{{}: true}}, 0
	learn(t.Context(), told, func(context.Context, *stage.Scenario) (r verdict.Result, _ error) {
		told.Ends = []stage.End{{Stored: script.Snapshot{"foos a": script.AnObject}, Writes: []verdict.Request{{}}}}
		if runs++; runs == 1 {
			r.Violations = slices.Grow(r.Violations, 1)[:1]
		} else {
			told.Ends[0].Stored["foos a .status.replicas"] = "1"
		}
		return r, nil
	})
	if len(told.Masked) > 0 || runs != 3 {
		t.Errorf("after %d runs these values are ignored: %v", runs, told.Masked)
	}
}

// A list at the returned version has the user's object with a deletionTimestamp.
func TestDyingSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foos := v1alpha1.SchemeGroupVersion.WithResource("foos")
		s := &stage.Stage{World: &stage.World{Judge: &stage.Judge{Told: &stage.Told{Users: map[schema.GroupVersionResource]bool{foos: true}}}},
			Ctx: t.Context(), Namespace: "default", Dynamic: dynamic.NewForConfigOrDie(tests.NewAPIServer().Config()), History: verdict.NewHistory()}
		create := scenario.MakeFoo("a", stage.Object{"deploymentName": "a", "replicas": 1}, "example.com/held")
		before := scenario.Version(s)
		create(s)
		if dying := dyingSince(s, before); dying != "" {
			t.Errorf("nothing was deleted: %q", dying)
		}
		scenario.DeleteFoo("a", metav1.DeletePropagationBackground)(s)
		stage.Must(s.Client(foos).Patch(t.Context(), "a", stage.MergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
		create(s)
		dying := dyingSince(s, before)
		list, err := s.Client(foos).List(t.Context(), metav1.ListOptions{ResourceVersion: dying, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetDeletionTimestamp() == nil {
			t.Errorf("as of %q there is %v (%v)", dying, list, err)
		}
	})
}

// Two objects instead of one are too many, and a moment without any is a gap. A gap that exists without a
// fault is reported only in the run without faults. Objects that overlap without a fault may overlap more with
// one.
func TestCounted(t *testing.T) {
	const pods = "/api/v1/namespaces/here/pods"
	create := verdict.Request{Request: testkit.Request{Method: http.MethodPost, Target: testkit.TargetOf(pods), Stored: http.StatusCreated}}
	remove := verdict.Request{Request: testkit.Request{Method: http.MethodDelete, Target: testkit.TargetOf(pods + "/a"), Stored: http.StatusOK}}
	lets := verdict.Request{Request: testkit.Request{Method: http.MethodDelete, Path: pods + "/runs-on", Target: testkit.TargetOf(pods + "/runs-on"), Stored: http.StatusOK}}
	another := verdict.Request{Request: testkit.Request{Method: http.MethodPost, Target: testkit.TargetOf("/api/v1/namespaces/here/services"), Stored: http.StatusCreated}}
	pod := &stage.Stored{Resource: corev1.SchemeGroupVersion.WithResource("pods")}
	for name, test := range map[string]struct {
		before, after int
		usual, sent   []verdict.Request
		learns        bool
		want          []*verdict.Lesson
	}{
		"as usual":                              {0, 1, []verdict.Request{create}, []verdict.Request{create, another}, false, nil},
		"created twice":                         {0, 1, []verdict.Request{create}, []verdict.Request{create, create}, false, []*verdict.Lesson{verdict.Twice}},
		"created before the old one is deleted": {1, 1, []verdict.Request{remove, create}, []verdict.Request{create, remove}, false, []*verdict.Lesson{verdict.Twice}},
		"overlap in another order":              {2, 2, []verdict.Request{create, remove, create, remove}, []verdict.Request{create, create, remove, remove}, false, nil},
		"overlap, and one is created twice":     {2, 2, []verdict.Request{create, remove, create, remove}, []verdict.Request{create, create, create, remove, remove}, false, []*verdict.Lesson{verdict.Twice}},
		"a gap without a fault":                 {1, 1, []verdict.Request{remove, create}, []verdict.Request{remove, create}, true, []*verdict.Lesson{verdict.Gap}},
		"a gap as without a fault":              {1, 1, []verdict.Request{remove, create}, []verdict.Request{remove, create}, false, nil},
		"a gap because of a fault":              {1, 1, []verdict.Request{create, remove}, []verdict.Request{remove, create}, false, []*verdict.Lesson{verdict.Gap}},
		"deleted, and its dependents run on":    {1, 1, []verdict.Request{lets, create}, []verdict.Request{lets, create}, true, nil},
		"that, and another is deleted":          {1, 1, []verdict.Request{lets, create}, []verdict.Request{lets, remove, create, create}, false, []*verdict.Lesson{verdict.Gap}},
		"others delete some":                    {1, 0, nil, []verdict.Request{create}, false, nil},
	} {
		told := &stage.Told{Script: &script.Script{Steps: []script.Step{{}, {}}}, Ends: []stage.End{{Made: slices.Repeat([]*stage.Stored{pod}, test.before)},
			{Made: slices.Repeat([]*stage.Stored{pod}, test.after), Writes: test.usual}}}
		told.Orphans.Store(pods+"/runs-on", true)
		s := &stage.Stage{World: &stage.World{Judge: &stage.Judge{Told: told}}, Scenario: &stage.Scenario{Calibrates: test.learns}, Part: &stage.Part{Step: 1}}
		count(s, test.sent)
		var got []*verdict.Lesson
		for _, f := range s.Findings {
			got = append(got, f.Lesson)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, s.Findings)
		}
	}
}
