package anykind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// The properties by their short names.
const (
	P1, P2, P3, P4 = verdict.P1, verdict.P2, verdict.P3, verdict.P4
	P5, P6, P7, P8 = verdict.P5, verdict.P6, verdict.P7, verdict.P8
)

const (
	// silence is how long nothing may happen when all is done, and patienceAtRest limits the wait for it.
	silence, patienceAtRest = 3 * time.Second, 40 * time.Second
	// collecting is how long the garbage collector may take: it discovers new kinds every 30 s.
	collecting = time.Minute
	// BoundOfScript is Judge.Bound for a script: client-go's Reflector waits up to 26 s after rejected lists.
	BoundOfScript = 40 * time.Second
)

// learn plays the script without a fault until two runs end with the same objects, and keeps their common
// values. It returns violations that occur even so.
func learn(ctx context.Context, t *stage.Told, play player) verdict.Result {
	sc := faultFree
	var before []stage.End
	short := 0
	for range 6 {
		t.Ends = nil
		r := stage.Must(play(ctx, &sc))
		if r.NotJudged != "" {
			stage.Check(stage.NotJudged(r.NotJudged))
		}
		if r.Short() {
			short++
		}
		switch complete := len(t.Ends) == len(t.Steps); {
		case r.Short() && short == 1: // A single failure does not count: an API server rejects some requests for a new CRD.
		case !complete && short > 1:
			return r
		case complete && before != nil && mask(t, before):
			stage.Check(worthwhile(t)) // On a slow machine the first run may end too early.
			return r
		case complete:
			before = t.Ends
		}
	}
	stage.Check(errors.New("even without faults the script ends in a different state each time"))
	return verdict.Result{}
}

// learned plays the script and keeps the result of each step.
func learned(s *stage.Stage) {
	t := s.Judge.Told
	s.Baseline = t.File // Only that it is not empty matters.
	for i := range t.Steps {
		plays(i)(s)
		if !s.Quiet(silence, patienceAtRest) {
			s.Fail(verdict.Found(P2, verdict.Noisy, time.Now(), "After %s the judge waited %s, but the program was never silent for %s. Nothing else is judged.", lastStep(s), patienceAtRest, silence))
		}
		t.Ends = append(t.Ends, ended(s))
		counted(s)
	}
}

// worthwhile fails if no verdict on the program is possible: a program that does nothing would pass each
// scenario.
func worthwhile(t *stage.Told) error {
	switch {
	case len(t.Users) == 0:
		return stage.NotJudged(t.Wrong(t.Steps[0].At, "after no step does the namespace have an object of a kind that the program reads (it reads: %s). "+
			"Is the script about a different kind? A kind without a namespace cannot be judged", listed(stage.Names(t.Resources()))).Error())
	case !slices.ContainsFunc(t.Ends, func(end stage.End) bool { return len(end.Writes) > 0 }):
		return stage.NotJudged(t.Wrong(t.Steps[0].At, "the program has written nothing in any step, so it cannot be judged. Does it wait to become leader?").Error())
	}
	return nil
}

// ended returns the result of the last played step. When no object of the user is left, it waits for the
// garbage collector, and finds the objects that remain: P4.
func ended(s *stage.Stage) (is stage.End) {
	t, left := s.Judge.Told, ""
	if !s.Await(collecting, func() bool {
		now, objects := s.Look()
		is, left = stage.End{Stored: now}, ""
		owned := len(t.Users) == 0
		for _, o := range objects {
			left += " " + o.Name
			if t.IsUsers(o) {
				t.Users[o.Resource], owned = true, true
			}
			if t.IsMade(o) {
				is.Made = append(is.Made, o)
			}
		}
		return owned || len(is.Made) == 0
	}) {
		s.Find(verdict.Found(P4, verdict.Orphaned, time.Now(), "In %s the last object of the user was deleted. %s later these objects remain:%s.", lastStep(s), collecting, left))
	}
	is.Writes = s.Tries(s.Part.Began)
	return is
}

func alive(objects []*stage.Stored) map[string]int {
	n := map[string]int{}
	for _, o := range objects {
		n[o.Resource.Resource]++
	}
	return n
}

// counted checks the last played step. P1: the program deleted the last object of a resource that has objects
// before and after the step. P3: more objects existed at the same time than without a fault.
func counted(s *stage.Stage) { count(s, s.Tries(s.Part.Began)) }

// count is counted for these requests of the program.
func count(s *stage.Stage, sent []verdict.Request) {
	var made []*stage.Stored
	if i := s.Part.Step; i > 0 {
		made = s.Judge.Told.Ends[i-1].Made
	}
	end := s.Judge.Told.Ends[s.Part.Step]
	before, after := alive(made), alive(end.Made)
	for resource := range alive(slices.Concat(made, end.Made)) {
		n, usual := tallied(s.Judge.Told, resource, before[resource], sent), tallied(s.Judge.Told, resource, before[resource], end.Writes)
		if usual.end != after[resource] {
			continue // Other clients delete some, such as the garbage collector. The requests do not show when.
		}
		usually := usual.least == 0 && !s.Scenario.Calibrates // The gap exists without a fault, too.
		if n.least == 0 && before[resource] > 0 && after[resource] > 0 && !usually {
			s.Find(verdict.Found(P1, verdict.Gap, time.Now(), "In %s the program deleted the last of its %s before it created a new one.", lastStep(s), resource))
		}
		// A program whose old and new objects overlap may replace them in a different order each time. Then
		// there were too many only if it also created more.
		overlap := usual.most > max(before[resource], usual.end)
		if n.most > usual.most && (!overlap || n.created > usual.created) {
			s.Find(verdict.Found(P3, verdict.Twice, time.Now(), "In %s there were %d %s at the same time; without faults there were at most %d.", lastStep(s), n.most, resource, usual.most))
		}
	}
}

// tally has the fewest and the most objects of a resource at one time, the number at the end, and the number
// created.
type tally struct{ least, most, end, created int }

// tallied counts objects while the program sends these requests; n existed before. A DELETE that orphans
// dependents, such as a StatefulSet's Pods, opens no gap: the dependents run until a new object adopts them.
func tallied(t *stage.Told, resource string, n int, sent []verdict.Request) tally {
	is, runsOn := tally{least: n, most: n, end: n}, 0
	for _, r := range sent {
		switch {
		case r.Target.Resource != resource || r.Target.Subresource != "":
		case r.Stored == http.StatusCreated:
			is.end++
			is.created++
			runsOn = max(0, runsOn-1)
		case r.Method == http.MethodDelete && r.Stored == http.StatusOK:
			is.end--
			if orphans, _ := t.Orphans.Load(r.Path); orphans == true {
				runsOn++
			}
		}
		is.least, is.most = min(is.least, is.end+runsOn), max(is.most, is.end)
	}
	return is
}

// mask masks the values that differ between two runs. It reports whether both have the same objects. From
// then on, objects whose names changed are not compared by name.
func mask(t *stage.Told, before []stage.End) (same bool) {
	same = true
	for i, end := range t.Ends {
		for _, d := range end.Stored.Against(before[i].Stored, func(string) bool { return false }) {
			if !d.IsObject() {
				t.Masked[d.Name] = true
				continue
			}
			same = false
			if resource, _, _ := strings.Cut(d.Name, " "); slices.ContainsFunc(end.Made, func(o *stage.Stored) bool { return o.Name == d.Name }) {
				t.Generated[resource] = true
			}
		}
	}
	return same
}

// late starts the program for the first time after a step, without a fault. It records the conditions that
// only one of the runs has: a program may add a condition only when it sees a change.
func late(i int) stage.Step {
	return func(s *stage.Stage) {
		t := s.Judge.Told
		s.Take(startsAfter(i), rested)
		now, _ := s.Look()
		for _, d := range now.Against(t.Ends[i].Stored, func(name string) bool { return t.Masked[name] }) {
			if strings.Contains(d.Name, " .status.conditions[") && (d.Is == "" || d.Was == "") {
				t.History[d.Name] = true
			}
		}
	}
}

// learnHistory plays late after each step with conditions.
func learnHistory(ctx context.Context, t *stage.Told, play player) {
	for i, end := range t.Ends {
		names := slices.Collect(maps.Keys(end.Stored))
		if i > 0 && slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, " .status.conditions[") }) {
			stage.Must(play(ctx, &stage.Scenario{Name: "late-" + t.Steps[i].Name, Steps: []stage.Step{late(i)}}))
		}
	}
}

// print writes the learned results: the values of each new object, and each change.
func print(t *stage.Told, w io.Writer) {
	fmt.Fprintf(w, "# The result of %s without injected faults. The judge compares each run with this result. Check it: the judge cannot find a mistake that is already here.\n", t.File)
	before := script.Snapshot{}
	for i, end := range t.Ends {
		fmt.Fprintf(w, "%s: # %d writes\n", t.Steps[i].Name, len(end.Writes))
		if len(end.Writes) == 0 && len(end.Stored) > 0 {
			fmt.Fprintf(w, "  # The program wrote nothing in this step. If the step has no effect, the scenarios test nothing here.\n")
		}
		changes := end.Stored.Against(before, func(name string) bool { return t.Masked[name] })
		for name, is := range end.Stored {
			if object, _, isValue := strings.Cut(name, " ."); isValue && before[object] == "" && !t.Masked[name] {
				changes = append(changes, script.Difference{Name: name, Is: is})
			}
		}
		slices.SortFunc(changes, func(a, b script.Difference) int { return cmp.Compare(a.Name, b.Name) })
		for _, d := range changes {
			fmt.Fprintf(w, "  %s: %s\n", d.Name, short(cmp.Or(d.Is, "gone")))
		}
		before = end.Stored
	}
	fmt.Fprintf(w, "# The program reads: %s\n# Ignored values, because they differ between two runs: %s\n# Ignored values if the program starts late, because they depend on earlier events: %s\n# Objects with generated names: %s\n\n",
		listed(stage.Names(t.Resources())), listed(slices.Sorted(maps.Keys(t.Masked))), listed(slices.Sorted(maps.Keys(t.History))), listed(slices.Sorted(maps.Keys(t.Generated))))
}

func short(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= 200 {
		return text
	}
	return fmt.Sprintf("%.60s… (%d bytes)", text, len(text))
}

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// player plays a scenario and returns its result.
type player = func(ctx context.Context, sc *stage.Scenario) (verdict.Result, error)

// Learn learns the results of the script without a fault. It reports whether there are results to compare with.
func Learn(ctx context.Context, t *stage.Told, play player) (r verdict.Result, learned bool, err error) {
	err = stage.Try(func() {
		r = learn(ctx, t, play)
		if learned = len(t.Ends) == len(t.Steps); learned {
			learnHistory(ctx, t, play)
		}
	})
	return r, learned, err
}

// LearnScript learns the results on a new control plane, and prints them.
func LearnScript(ctx context.Context, w *stage.World, play player, report func(verdict.Result)) (learned bool, err error) {
	t := w.Judge.Told
	err = stage.Try(func() {
		for _, crds := range t.CRDs {
			stage.Check(w.Plane.Install(crds.Text))
		}
		var r verdict.Result
		r, learned, err = Learn(ctx, t, play)
		stage.Check(err)
		if learned {
			var text bytes.Buffer
			print(t, &text)
			fmt.Printf("\n%s", &text)
			if t.Learned != "" {
				stage.Check(os.WriteFile(t.Learned, text.Bytes(), 0o644))
			}
		}
		fmt.Println(verdict.Header())
		report(r)
	})
	return learned, err
}
