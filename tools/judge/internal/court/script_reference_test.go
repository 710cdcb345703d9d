//go:build long

package court

import (
	"testing"

	"example.com/byhand/tools/judge/internal/court/anykind"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/reference/bugs"
)

// byScript is in which scenario of a script each bug of the reference is found. The others need one that no script has, or
// an eye that knows Foos.
var byScript = map[*bugs.Bug]string{
	bugs.NoGuard: "name-taken", bugs.AdoptsByName: "name-taken", bugs.TellsAnothers: "name-taken", bugs.DeafToNames: "name-taken",
	bugs.NoOwner: scenario.FaultFree, bugs.DeletesFirst: scenario.FaultFree, bugs.PollWrites: scenario.FaultFree,
	bugs.NoRename: "fresh-rename", bugs.RemembersNames: "down", bugs.IgnoresDeletion: "dying",
	bugs.IgnoresImage: "drift", bugs.IgnoresReplicas: "drift", bugs.DeafToDeletion: "deleted", bugs.GeneratesNames: "answer-lost",
	bugs.NoRetry: "refused-403", bugs.NoBackoff: "refused-403", bugs.InvalidIsFinal: "refused-422", bugs.ExitsOn5xx: "refused-500", bugs.MakesRoom: "refused-create",
	bugs.NoRelist: "events-missed", bugs.TrustsCache: "stale-start", bugs.StatusEveryTime: "restart",
	bugs.Insists: "set-back", bugs.Fights: "set-back",
}

// The judge of scripts is judged, too: these bugs are found. One for each scenario, and all of them with -everything.
func TestScriptOfReference(t *testing.T) {
	courts := newCourts(t)
	played := map[string]bool{}
	for _, bug := range bugs.All {
		name := byScript[bug]
		if name == "" || played[name] && !*everything {
			continue
		}
		played[name] = true
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			told := stage.Must(anykind.ReadScript("../../script/foos.yaml"))
			chosen := append([]stage.Scenario{{Name: scenario.FaultFree}}, those(anykind.ScriptScenarios(told), func(sc stage.Scenario) bool { return sc.Name == name })...)
			results := courts.judge(t, told, chosen, "-"+bug.Name)
			if last := results[len(results)-1]; last.Scenario != name || !last.Short() {
				t.Errorf("%s does not catch it: %+v", name, last)
			}
		})
	}
}
