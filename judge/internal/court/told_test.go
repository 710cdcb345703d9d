package court

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

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
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	told.users["foos"] = true
	if err := told.hasUsers(); err != nil {
		t.Errorf("there is a Foo, and the error is %v", err)
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
