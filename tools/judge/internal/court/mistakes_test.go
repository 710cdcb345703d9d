//go:build long

package court

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/byhand/tools/judge/internal/court/anykind"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/internal/mistakes"
)

// On control planes the judge finds the mistake that the in-memory API server cannot show, and the ones of
// TestScript.
func TestMistakes(t *testing.T) {
	judges(t, func(m mistakes.Mistake) string {
		if m.Real || m.Script != "" {
			return m.Scenario
		}
		return ""
	}, func(name string) (*stage.Told, []stage.Scenario) {
		return nil, withFaultFree(scenario.All, []stage.Scenario{scenario.All[position(scenario.All, name)]})
	}, func(m mistakes.Mistake) []string { return []string{m.Says, m.File} })
}

// With a script the judge finds mistakes without rules about Foos. It takes six minutes, so make test-judge leaves it out.
func TestScript(t *testing.T) {
	judges(t, func(m mistakes.Mistake) string { return m.Script }, func(name string) (*stage.Told, []stage.Scenario) {
		told := stage.Must(anykind.ReadScript("../../script/foos.yaml"))
		return told, stage.Must(choose(scenariosOf(told), options{scenario: name}))
	}, func(mistakes.Mistake) []string { return nil })
}

// judges judges the exercise's solution with each mistake, on the same control planes. It skips a mistake for
// which of returns "". The scenario must catch the mistake, and its violations must contain the words of
// says.
func judges(t *testing.T, of func(mistakes.Mistake) string, chosen func(name string) (*stage.Told, []stage.Scenario), says func(mistakes.Mistake) []string) {
	dir, temporary, worlds := mistakes.Prepare(t), t.TempDir(), stage.Worlds{}
	t.Cleanup(func() {
		if err := stage.Down(worlds); err != nil {
			t.Error(err)
		}
	})
	if output, err := exec.Command("go", "-C", dir, "build").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, m := range mistakes.All {
		name := of(m)
		if name == "" {
			continue
		}
		if !t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			told, chosen := chosen(name)
			// The program is small and has no Lease: it needs at most 15 s.
			// The control planes outlive a mistake, and so does their folder.
			j := &stage.Judge{Bound: 15 * time.Second, Dir: temporary, Told: told, Command: stage.Command{Args: []string{"env", m.Environment(), "./mine"}, Dir: dir}}
			var last verdict.Result
			if err := judgeProgram(t.Context(), j, worlds, chosen, func(r verdict.Result) { last = r }); err != nil {
				t.Fatal(err)
			}
			if last.Scenario != name || !last.Short() {
				t.Fatalf("%s does not catch it: %+v", name, last)
			}
			for _, words := range says(m) {
				if !strings.Contains(fmt.Sprint(last.Violations), words) {
					t.Errorf("it does not say %q: %+v", words, last.Violations)
				}
			}
		}) {
			return // Perhaps there is no control plane.
		}
	}
}
