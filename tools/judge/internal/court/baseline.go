package court

import (
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

	"example.com/byhand/tools/judge/script"
)

const (
	// silence is how long nothing may happen when all is done, and patienceAtRest how long the judge waits for that.
	silence, patienceAtRest = 3 * time.Second, 40 * time.Second
	// collecting is how long the garbage collector may take: it finds out about new kinds every 30 s.
	collecting = time.Minute
	// boundOfScript is judge.bound: after refused lists client-go's Reflector waits up to 26 s.
	boundOfScript = 40 * time.Second
)

// learn plays the script without a fault, until two runs end with the same objects, and keeps what they have in common. It returns what is
// wrong even so.
func (w *world) learn(ctx context.Context) result {
	t := w.judge.told
	sc := scenario{name: faultFree, what: "The script without a fault.", judged: P1 | P2 | P3 | P4 | P7, calibrates: true, steps: []step{learned}}
	var before []end
	short := 0 // What is wrong once only does not count.
	for range 6 {
		t.ends = nil
		r := must(w.result(ctx, &sc))
		if r.NotJudged != "" {
			check(notJudged(r.NotJudged))
		}
		if r.short() {
			short++
		}
		switch complete := len(t.ends) == len(t.Steps); {
		case !complete && short > 1, complete && before != nil && t.mask(before) && (!r.short() || short > 1):
			return r
		case complete:
			before = t.ends
		}
	}
	check(errors.New("without a fault the script ends in another way each time"))
	return result{}
}

// learned plays the script and keeps what is stored after each step.
func learned(s *stage) {
	t := s.judge.told
	s.baseline = t.File // It is not that of Foos.
	for i := range t.Steps {
		plays(i)(s)
		if !s.quiet(silence, patienceAtRest) {
			s.fail(found(P2, noisy, time.Now(), "%s is long done, and in %s the program has not been silent for %s. Nothing else is judged.", s.lastStep(), patienceAtRest, silence))
		}
		t.ends = append(t.ends, s.ended())
		counted(s)
	}
	check(t.worthwhile())
}

// worthwhile fails if nothing can be said about the program: a program that does nothing is right in each scenario.
func (t *told) worthwhile() error {
	switch {
	case len(t.users) == 0:
		return notJudged(t.Wrong(t.Steps[0].At, "after no step has kubectl left an object of a kind that the program reads in the namespace (it reads: %s). "+
			"Is the script about another kind? One without a namespace cannot be judged", listed(names(t.resources()))).Error())
	case !slices.ContainsFunc(t.ends, func(end end) bool { return len(end.writes) > 0 }):
		return notJudged(t.Wrong(t.Steps[0].At, "in no step has the program written anything, so nothing can be said about it. Does it wait until it is elected as leader?").Error())
	}
	return nil
}

// ended is the end of the step that was played last. When there is no object of the user any more, it waits for the garbage collector, and finds what is
// left: P4.
func (s *stage) ended() (is end) {
	t, left := s.judge.told, ""
	if !s.await(collecting, func() bool {
		now, objects := s.look()
		is, left = end{stored: now}, ""
		owned := len(t.users) == 0
		for _, o := range objects {
			left += " " + o.name
			if o.isUsers() {
				t.users[o.resource], owned = true, true
			}
			if t.isMade(o) {
				is.made = append(is.made, o)
			}
		}
		return owned || len(is.made) == 0
	}) {
		s.find(found(P4, orphaned, time.Now(), "After %s there is no object of the user any more. After %s this is left:%s.", s.lastStep(), collecting, left))
	}
	is.writes = s.tries(s.part.began)
	return is
}

// alive counts objects by resource.
func alive(objects []*stored) map[string]int {
	n := map[string]int{}
	for _, o := range objects {
		n[o.resource.Resource]++
	}
	return n
}

// counted finds that in the step that was played last the program itself took away the last object of a resource, while there was
// one before and one afterwards (P1), or that there were more than without a fault (P3).
func counted(s *stage) { s.count(s.tries(s.part.began)) }

// count is counted, for a program that has sent this.
func (s *stage) count(sent []request) {
	var made []*stored
	if i := s.part.step; i > 0 {
		made = s.judge.told.ends[i-1].made
	}
	end := s.judge.told.ends[s.part.step]
	before, after := alive(made), alive(end.made)
	for resource := range alive(slices.Concat(made, end.made)) {
		n, usual := s.judge.told.tallied(resource, before[resource], sent), s.judge.told.tallied(resource, before[resource], end.writes)
		if usual.end != after[resource] {
			continue // Others delete some, as the garbage collector does, and the requests do not show when.
		}
		usually := usual.least == 0 && !s.scenario.calibrates // It is so without a fault, too.
		if n.least == 0 && before[resource] > 0 && after[resource] > 0 && !usually {
			s.find(found(P1, gap, time.Now(), "In %s the program has deleted the last of its %s before there was another one.", s.lastStep(), resource))
		}
		// Who replaces old ones by new ones, and lets them overlap, may do so in another order each time: then there were too
		// many only if more were created, too.
		overlap := usual.most > max(before[resource], usual.end)
		if n.most > usual.most && (!overlap || n.created > usual.created) {
			s.find(found(P3, twice, time.Now(), "In %s there were %d %s at the same time; without a fault %d at most.", s.lastStep(), n.most, resource, usual.most))
		}
	}
}

// tally is how few and how many objects of a resource there were at a time, how many at the end, and how many were created.
type tally struct{ least, most, end, created int }

// tallied counts while the program sends these requests. There were n before. What is deleted and leaves what it has made, as a
// StatefulSet does whose Pods run on until another one takes them, is no gap until then.
func (t *told) tallied(resource string, n int, sent []request) tally {
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
			if orphans, _ := t.orphans.Load(r.Path); orphans == true {
				runsOn++
			}
		}
		is.least, is.most = min(is.least, is.end+runsOn), max(is.most, is.end)
	}
	return is
}

// mask masks the values that two runs do not have in common. It reports whether they have the same objects; what has
// another name each time is not compared by its name from then on.
func (t *told) mask(before []end) (same bool) {
	same = true
	for i, end := range t.ends {
		for _, d := range end.stored.Against(before[i].stored, func(string) bool { return false }) {
			if !d.IsObject() {
				t.masked[d.Name] = true
				continue
			}
			same = false
			if resource, _, _ := strings.Cut(d.Name, " "); slices.ContainsFunc(end.made, func(o *stored) bool { return o.name == d.Name }) {
				t.generated[resource] = true
			}
		}
	}
	return same
}

// print says what was learned.
func (t *told) print(w io.Writer) {
	fmt.Fprintf(w, "\nWhat I have learned from %s, without a fault. What the program does wrong each time I take for right, so see if it is:\n", t.File)
	before := script.Snapshot{}
	for i, end := range t.ends {
		fmt.Fprintf(w, "  %s: %d writes\n", t.Steps[i].Name, len(end.writes))
		changes := end.stored.Against(before, func(name string) bool { return t.masked[name] })
		for _, name := range slices.Sorted(maps.Keys(end.stored)) {
			if object, path, _ := strings.Cut(name, " ."); before[object] == "" && strings.HasPrefix(path, "status.") {
				changes = append(changes, script.Difference{Name: name, Is: end.stored[name]})
			}
		}
		for _, d := range changes {
			fmt.Fprintf(w, "    %s: %s\n", d.Name, cmp.Or(d.Is, "gone"))
		}
		before = end.stored
	}
	fmt.Fprintf(w, "  it reads: %s\n  another one each time, and not compared: %s\n  of another name each time: %s\n\n",
		listed(names(t.resources())), listed(slices.Sorted(maps.Keys(t.masked))), listed(slices.Sorted(maps.Keys(t.generated))))
}

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "nothing") }

// learnScript learns on a new control plane, and says what. It reports whether there is something to compare with.
func (w *world) learnScript(ctx context.Context, report func(result)) (learned bool, err error) {
	t := w.judge.told
	err = try(func() {
		for _, crds := range t.CRDs {
			check(w.plane.Install(crds.Text))
		}
		t.meet(w.kube.Discovery())
		r := w.learn(ctx)
		if learned = len(t.ends) == len(t.Steps); learned {
			t.print(os.Stdout)
		}
		fmt.Println(header())
		report(r)
	})
	return learned, err
}
