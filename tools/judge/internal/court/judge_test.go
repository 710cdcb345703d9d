package court

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// A chosen fault adds the run without faults, before the faults.
func TestChoose(t *testing.T) {
	for _, test := range []struct {
		scenario string
		quick    bool
		want     []string
	}{
		{"rename", false, []string{"rename"}},
		{"conflicts|rename", false, []string{"rename", scenario.FaultFree, "conflicts"}},
		{"conflicts", true, nil},
		{"killed", false, nil},
		{"renamed-back|rename", false, []string{"rename", scenario.FaultFree, "renamed-back"}},
	} {
		chosen, err := choose(scenario.All, options{scenario: test.scenario, quick: test.quick})
		var names []string
		for _, s := range chosen {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, test.want) || (err != nil) != (test.want == nil) {
			t.Errorf("-scenario %s -quick=%t: %v, %v; want %v", test.scenario, test.quick, names, err, test.want)
		}
	}
}

func TestQuickScript(t *testing.T) {
	_, err := do(t.Context(), options{script: "../../script/foos.yaml", quick: true})
	if err == nil || !strings.Contains(err.Error(), "choose scenarios instead, as in -scenario") {
		t.Errorf("the error is %v", err)
	}
}

func TestCaveats(t *testing.T) {
	isCaveat := func(s stage.Scenario) bool { return s.Caveat }
	without, err := choose(scenario.All, options{})
	with, errWith := choose(scenario.All, options{caveats: true})
	if err := errors.Join(err, errWith); err != nil || slices.ContainsFunc(without, isCaveat) || !slices.ContainsFunc(with, isCaveat) {
		t.Errorf("without -caveats %d scenarios run, with it %d (%v)", len(without), len(with), err)
	}
}

// A property that the scenario does not judge has no mark, except an exit of the program.
func TestMarks(t *testing.T) {
	sc := &stage.Scenario{Name: "x", Judged: verdict.P1 | verdict.P2}
	s := &stage.Stage{World: &stage.World{Judge: &stage.Judge{}}, Scenario: sc, Proxy: &testkit.Faults{}, Findings: []verdict.Finding{
		verdict.Found(verdict.P2, verdict.Noisy, time.Now(), "noise"), verdict.Found(verdict.P5, verdict.Foreign, time.Now(), "not looked at"), verdict.Found(verdict.P7, verdict.Exits, time.Now(), "it ended")}}
	s.Explain()
	r := newResult(sc, s, "", time.Second)
	if got := r.Line(); got != " ✓  ✗  –  –  –  –  ✗  –      1 s" || !r.Short() {
		t.Errorf("the line is %q", got)
	}
}

// Violations of P5 come first, because the others may follow from them.
func TestForeignFirst(t *testing.T) {
	sc := &stage.Scenario{Name: "x", Judged: verdict.P1 | verdict.P5}
	r := newResult(sc, &stage.Stage{Scenario: sc, Findings: []verdict.Finding{verdict.Found(verdict.P1, verdict.Absent, time.Now(), "none"), verdict.Found(verdict.P5, verdict.Foreign, time.Now(), "written")}}, "", time.Second)
	if r.Violations[0].Properties != "P5" {
		t.Errorf("the first violation is of %s, want P5", r.Violations[0].Properties)
	}
}
