//go:build long

package court

import (
	"flag"
	"slices"
	"testing"
	"time"

	"example.com/byhand/internal/run/plane"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/reference/bugs"
)

var everything = flag.Bool("everything", false, "put each program through all scenarios, not only through those that name its bug")

// The judge is judged: the program reference has no bug without a flag, and with one the
// scenarios that name it catch it. If the bug is not wide, the others must not.
func TestReference(t *testing.T) {
	courts := newCourts(t)
	t.Run("right", func(t *testing.T) {
		t.Parallel()
		chosen := those(scenario.All, func(sc stage.Scenario) bool { return *everything && !sc.Caveat || sc.Quick })
		for _, r := range courts.judge(t, nil, chosen) {
			mustBe(&r, t, false)
		}
	})
	for _, bug := range bugs.All {
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			named := func(scenario string) bool { return slices.Contains(bug.CaughtBy, scenario) }
			chosen := those(scenario.All, func(sc stage.Scenario) bool { return *everything && !sc.Caveat || named(sc.Name) && !slow(&sc) })
			for _, r := range courts.judge(t, nil, chosen, "-"+bug.Name) {
				if named(r.Scenario) || !bug.Wide {
					mustBe(&r, t, named(r.Scenario))
				}
			}
		})
	}
}

// slow reports whether the scenario takes minutes.
func slow(sc *stage.Scenario) bool { return slices.Contains([]string{"idle", "thousand"}, sc.Name) }

// mustBe fails if the scenario has not caught the program, or has although it must not.
func mustBe(r *verdict.Result, t *testing.T, caught bool) {
	t.Helper()
	switch {
	case r.NotJudged != "":
		t.Errorf("%s: not judged: %s", r.Scenario, r.NotJudged)
	case caught && !r.Short():
		t.Errorf("%s does not catch it", r.Scenario)
	case !caught && r.Short():
		t.Errorf("%s catches it: %s", r.Scenario, r.Violations[0].Seen)
	}
}

// those are the scenarios that are wanted.
func those(all []stage.Scenario, wanted func(stage.Scenario) bool) []stage.Scenario {
	return slices.DeleteFunc(slices.Clone(all), func(sc stage.Scenario) bool { return !wanted(sc) })
}

// courts are control planes on which the reference is judged with one bug after the other: as many as are
// judged at the same time. Each is started when it is first needed.
type courts chan court

// court is a folder, with the program, and two control planes.
type court struct {
	dir    string
	worlds stage.Worlds
}

func newCourts(t *testing.T) courts {
	c := make(courts, flag.Lookup("test.parallel").Value.(flag.Getter).Get().(int))
	for range cap(c) {
		court := court{t.TempDir(), stage.Worlds{}}
		if _, err := plane.Go(t.Context(), "build", "-o", court.dir, "example.com/byhand/tools/judge/reference"); err != nil {
			t.Fatal(err)
		}
		c <- court
	}
	t.Cleanup(func() {
		for range cap(c) {
			if err := stage.Down((<-c).worlds); err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

// judge puts the reference with a flag through scenarios, and what they are compared with.
func (c courts) judge(t *testing.T, told *stage.Told, chosen []stage.Scenario, flags ...string) (results []verdict.Result) {
	court := <-c
	defer func() { c <- court }()
	// The program is small and has no Lease: in the scenarios that name a bug, what it has not
	// done in 15 s it never does.
	bound := 15 * time.Second
	if *everything && told == nil {
		bound = stage.UsualBound
	}
	args := append([]string{"./reference", "-kubeconfig", "{kubeconfig}"}, flags...)
	j := &stage.Judge{Bound: bound, Dir: court.dir, Told: told, Command: stage.Command{Args: args, Dir: court.dir}}
	if err := judgeProgram(t.Context(), j, court.worlds, withFaultFree(chosen), func(r verdict.Result) {
		t.Logf("%-22s%s", r.Scenario, r.Line())
		for _, v := range r.Violations {
			t.Logf("%s %s", v.Properties, v.Seen)
		}
		results = append(results, r)
	}); err != nil {
		t.Fatal(err)
	}
	return results
}
