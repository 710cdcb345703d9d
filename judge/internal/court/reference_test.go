//go:build long

package court

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/byhand/internal/testkit/plane"
	"example.com/byhand/judge/reference/bugs"
)

var everything = flag.Bool("everything", false, "put each program through all scenarios, not only through those that name its bug")

// The judge is judged: the program reference has no bug without a flag, and with one the
// scenarios that name it catch it. If the bug is not wide, the others must not.
func TestReference(t *testing.T) {
	reference := filepath.Join(t.TempDir(), "reference")
	if _, err := plane.Go(t.Context(), "build", "-o", reference, "example.com/byhand/judge/reference"); err != nil {
		t.Fatal(err)
	}
	courts := newCourts(t)

	t.Run("right", func(t *testing.T) {
		t.Parallel()
		for _, r := range courts.judge(t, func(sc scenario) bool { return *everything && !sc.caveat || sc.quick }, reference) {
			r.mustBe(t, false)
		}
	})
	for _, bug := range bugs.All {
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			named := func(scenario string) bool { return slices.Contains(bug.CaughtBy, scenario) }
			results := courts.judge(t, func(sc scenario) bool { return *everything && !sc.caveat || named(sc.name) && !sc.slow() }, reference, "-"+bug.Name)
			for _, r := range results {
				if named(r.Scenario) || !bug.Wide {
					r.mustBe(t, named(r.Scenario))
				}
			}
		})
	}
}

// slow reports whether the scenario takes minutes.
func (sc *scenario) slow() bool { return slices.Contains([]string{"idle", "thousand"}, sc.name) }

// mustBe fails if the scenario has not caught the program, or has although it must not.
func (r *result) mustBe(t *testing.T, caught bool) {
	t.Helper()
	switch {
	case r.NotJudged != "":
		t.Errorf("%s: not judged: %s", r.Scenario, r.NotJudged)
	case caught && !r.short():
		t.Errorf("%s does not catch it", r.Scenario)
	case !caught && r.short():
		t.Errorf("%s catches it: %s", r.Scenario, r.Violations[0].Seen)
	}
}

// courts are control planes on which one program after the other is judged: as many as are
// judged at the same time. Each is started when it is first needed.
type courts chan court

// court is a folder and two control planes.
type court struct {
	dir    string
	worlds worlds
}

func newCourts(t *testing.T) courts {
	c := make(courts, flag.Lookup("test.parallel").Value.(flag.Getter).Get().(int))
	for range cap(c) {
		c <- court{t.TempDir(), worlds{}}
	}
	t.Cleanup(func() {
		for range cap(c) {
			if err := down((<-c).worlds); err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

// judge puts a command through the scenarios that are wanted, and what they are compared with.
func (c courts) judge(t *testing.T, wanted func(scenario) bool, args ...string) (results []result) {
	var chosen []scenario
	for _, sc := range scenarios {
		if wanted(sc) {
			chosen = append(chosen, sc)
		}
	}
	court := <-c
	defer func() { c <- court }()
	// The program is small and has no Lease: in the scenarios that name a bug, what it has not
	// done in 15 s it never does.
	bound := 15 * time.Second
	if *everything {
		bound = usualBound
	}
	j := &judge{bound: bound, dir: court.dir, command: command{args: append(args, "-kubeconfig", "{kubeconfig}"), dir: court.dir}}
	chosen = withFaultFree(chosen)
	err := j.up(t.Context(), court.worlds, chosen)
	if err == nil {
		err = j.judgeAll(t.Context(), court.worlds, chosen, func(r result) {
			t.Logf("%-22s%s", r.Scenario, r.line())
			for _, v := range r.Violations {
				t.Logf("%s %s", v.Properties, v.Seen)
			}
			results = append(results, r)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return results
}
