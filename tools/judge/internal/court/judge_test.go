package court

import (
	"errors"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"example.com/byhand/kit/testkit"
)

// Faults are compared with the run without them, so that one is always among them, first.
func TestChoose(t *testing.T) {
	for _, test := range []struct {
		scenario string
		quick    bool
		want     []string
	}{
		{"rename", false, []string{"rename"}},
		{"conflicts|rename", false, []string{"rename", faultFree, "conflicts"}},
		{"conflicts", true, nil},
		{"killed", false, nil},
		{"renamed-back|rename", false, []string{"rename", faultFree, "renamed-back"}},
	} {
		chosen, err := choose(options{scenario: test.scenario, quick: test.quick})
		var names []string
		for _, s := range chosen {
			names = append(names, s.name)
		}
		if !slices.Equal(names, test.want) || (err != nil) != (test.want == nil) {
			t.Errorf("-scenario %s -quick=%t: %v, %v; want %v", test.scenario, test.quick, names, err, test.want)
		}
	}
}

// The files that the lessons name exist.
func TestLessonFiles(t *testing.T) {
	text, err := os.ReadFile("explanations.go")
	files := regexp.MustCompile(`(controller|informer)/[\w/]+\.go`).FindAllString(string(text), -1)
	if err != nil || len(files) < 20 {
		t.Fatalf("the lessons name %d files (%v)", len(files), err)
	}
	for _, file := range files {
		if _, err := os.Stat("../../../../" + file); err != nil {
			t.Error(err)
		}
	}
}

// The caveats of byhand run when they are asked for.
func TestCaveats(t *testing.T) {
	isCaveat := func(s scenario) bool { return s.caveat }
	without, err := choose(options{})
	with, errWith := choose(options{caveats: true})
	if err := errors.Join(err, errWith); err != nil || slices.ContainsFunc(without, isCaveat) || !slices.ContainsFunc(with, isCaveat) {
		t.Errorf("without -caveats %d scenarios run, with it %d (%v)", len(without), len(with), err)
	}
}

// What the scenario does not judge is not held against the program, except that it ends.
func TestMarks(t *testing.T) {
	sc := &scenario{name: "x", judged: P1 | P2}
	s := &stage{world: &world{judge: &judge{}}, scenario: sc, proxy: &testkit.Faults{}, findings: []finding{
		found(P2, noisy, time.Now(), "noise"), found(P5, foreign, time.Now(), "not looked at"), found(P7, exits, time.Now(), "it ended")}}
	s.explain()
	r := newResult(sc, s, "", time.Second)
	if got := r.line(); got != " ✓  ✗  –  –  –  –  ✗  –      1 s" || !r.short() {
		t.Errorf("the line is %q", got)
	}
}

// A verdict says which judge it is of.
func TestWhichJudge(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{[]debug.BuildSetting{setting("vcs.revision", "0123abc"), setting("vcs.modified", "false")}, "0123abc"},
		{[]debug.BuildSetting{setting("vcs.revision", "0123abc"), setting("vcs.modified", "true")}, "0123abc, with changes that are not committed"},
		{nil, "unknown"},
	} {
		if got := commitOf(test.settings); got != test.want {
			t.Errorf("commitOf(%v) = %q, want %q", test.settings, got, test.want)
		}
	}
}

// The lesson is about what the program did: nothing, or nothing more after a refusal.
func TestLessons(t *testing.T) {
	write := func(code int) request {
		return request{testkit.Request{Method: "POST", Target: testkit.Target{Resource: "deployments"}, Code: code}}
	}
	read := request{testkit.Request{Method: "GET", Target: testkit.Target{Resource: "deployments"}, Code: 200}}
	for _, test := range []struct {
		lesson, want *lesson
		requests     []request
	}{
		{absent, untouched, []request{read}},
		{absent, gaveUp, []request{write(201), write(503), read}},
		{absent, gaveUp, []request{write(0)}},
		{absent, absent, []request{write(503), write(201)}},
		{wrongSpec, gaveUp, []request{write(409)}},
		{leftOver, leftOver, []request{write(403)}},
	} {
		if got := test.lesson.given(test.requests); got != test.want {
			t.Errorf("%v: %q, want %q", test.requests, got.why, test.want.why)
		}
	}
}

// What is another's comes first: mended, the rest may be gone.
func TestForeignFirst(t *testing.T) {
	sc := &scenario{name: "x", judged: P1 | P5}
	r := newResult(sc, &stage{scenario: sc, findings: []finding{found(P1, absent, time.Now(), "none"), found(P5, foreign, time.Now(), "written")}}, "", time.Second)
	if r.Violations[0].Properties != "P5" {
		t.Errorf("the first violation is of %s, want P5", r.Violations[0].Properties)
	}
}

// A step ends its stage from however deep it was called, and what is deferred is done. Another panic is a mistake of the judge.
func TestTry(t *testing.T) {
	refused, undone := errors.New("refused"), false
	err := try(func() {
		defer func() { undone = true }()
		func() { must(1, refused) }()
		t.Error("it goes on")
	})
	if err != refused || !undone {
		t.Errorf("the error is %v, and what was deferred is done: %t", err, undone)
	}
	if err := try(func() { check(nil) }); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() != "a mistake" {
			t.Error("a mistake ends the stage, and no more")
		}
	}()
	_ = try(func() { panic("a mistake") })
}

// A program that ends again and again is not waited for.
func TestExitsEndAWait(t *testing.T) {
	s := &stage{world: &world{}, ctx: t.Context()}
	s.exits.Store(mostExits)
	if err := try(func() { s.await(time.Hour, func() bool { return false }) }); err != errShort {
		t.Errorf("the wait ends with %v", err)
	}
}
