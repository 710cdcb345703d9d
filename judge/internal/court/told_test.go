package court

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
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
		"in place of -quick choose, as in -scenario":    quick,
		"foos.yaml:6: after no step is there an object": told.hasUsers(),
		"(configmaps)": told.hasUsers(),
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
