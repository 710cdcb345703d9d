package anykind

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

var faultFree = stage.Scenario{Name: scenario.FaultFree, What: "The script, with no fault injected.", Judged: P1 | P2 | P3 | P4 | P7, Calibrates: true, Steps: []stage.Step{learned}}

// Scenarios returns the scenarios of a script about any kind.
func Scenarios(t *stage.Told) []stage.Scenario {
	all := []stage.Scenario{faultFree}
	// Each step checks P1, P4 and P6 (keeps), and an exit counts (P7). Faults wait until the program has started.
	add := func(more verdict.Properties, name, what string, steps ...stage.Step) {
		all = append(all, stage.Scenario{Name: name, What: what, Judged: P1 | P4 | P6 | P7 | more, Steps: slices.Insert(steps, 0, rested)})
	}
	n := len(t.Steps)
	add(P3, "killed-before-write", "In each step the program is killed (SIGKILL) just before the first write of each method and path, and restarted.", onFirst(testkit.KillBefore), steps(n, asTold), met)
	add(P3, "killed-after-write", "In each step the program is killed (SIGKILL) after the first write of each method and path, but before the response, and restarted.", onFirst(testkit.KillAfter), steps(n, asTold), met)
	add(P3, "answer-lost", "In each step the first write of each method and path takes effect, but its response is lost.", onFirst(testkit.LoseAnswer), steps(n, asTold), met)
	add(0, "down", "The program is down in each step.", steps(n, func(s *stage.Stage, i int) {
		begin, end := during(never, plays(i))
		s.Take(scenario.WhileDown(begin), end, keeps)
	}))
	for i, step := range t.Steps {
		if i > 0 {
			add(0, "fresh-"+step.Name, "The program starts for the first time after step "+step.Name+".", startsAfter(i), keeps)
		}
	}
	add(P3, "refused-403", "For 6 s of each step the program has no permission to write (403).", steps(n, refused(http.StatusForbidden)), met)
	add(P3, "refused-422", "For 6 s of each step a policy rejects the program's writes (422).", steps(n, refused(http.StatusUnprocessableEntity)), met)
	add(P3, "refused-500", "For 6 s of each step a webhook does not respond, so the program's writes fail (500).", steps(n, refused(http.StatusInternalServerError)), met)
	add(P3, "refused-create", "For 6 s of each step a quota is full, so the program cannot create objects (403).", steps(n, refused(http.StatusForbidden, http.MethodPost)), met)
	add(P3, "refused-with-ids", "For 6 s of each step a webhook denies the program's objects, with a different ID in each message: the program must not write each message into a status.", steps(n, func(s *stage.Stage, i int) {
		usual := len(slices.DeleteFunc(slices.Clone(s.Judge.Told.Ends[i].Writes), func(r verdict.Request) bool { return r.Target.Subresource != "status" }))
		scenario.FewTries(true, usual+5, verdict.Repeated, func(s *stage.Stage) { refused(scenario.Denied)(s, i) })(s)
	}), met)
	disturbed := func(d time.Duration, disturb scenario.Disturbance) stage.Step {
		return steps(n, func(s *stage.Stage, i int) {
			begin, end := during(never, plays(i))
			s.Take(scenario.Disturbed(d, disturb, begin), end, keeps)
		})
	}
	add(0, "overloaded", "For 10 s of each step half of the requests get 500, 503 or 429.", disturbed(10*time.Second, scenario.Overloaded))
	add(0, "silent-network", "For 15 s of each step requests hang.", disturbed(15*time.Second, scenario.Hanging(15*time.Second)))
	add(0, "conflicts", "For 10 s of each step another client keeps writing each object.", steps(n, func(s *stage.Stage, i int) {
		begin, end := during(never, plays(i))
		s.Take(scenario.Contended(10*time.Second, begin), end, keeps)
	}))
	add(P3, "own-writes-unseen", "For 8 s of each step the watches of the program's objects deliver nothing, so the program does not see its own writes.", makes, steps(n, unseen))
	add(0, "two-at-a-time", "A second process of the same command runs together with the first, which is killed after the first step.", scenario.Second, steps(n, func(s *stage.Stage, i int) {
		s.Take(plays(i), keeps)
		if i == 0 {
			scenario.KillFirst(s)
		}
	}))
	if n > 1 {
		add(0, "events-missed", "The watches are cut, and reads fail, while the script continues after its first step. The old watches cannot be resumed (410 Gone).", missed)
		add(0, "stale-start", "After each step the program is restarted, and its first list of the user's objects is stale, from before the step. If one of them was being deleted, a second restart has a list from that moment. The API server rejects streaming lists.", steps(n, stale), met)
	}
	add(P2, "restart", "The program is restarted, and nothing has changed: it must write nothing.", atMost, silently(scenario.WhileDown(), (*stage.Stage).Ready, scenario.Wait(12*time.Second)), keeps)
	add(P2, "idle", "Nothing happens for 65 s: the program must write nothing.", atMost, silently(scenario.Wait(65*time.Second)))
	add(0, "drift", "A user changes each value that the program has set: the program must set it back.", atMost, driftEach, keepsAfterFight)
	add(0, "deleted", "A user deletes the program's objects: the program must recreate them.", makes, atMost, deleteMade, keeps)
	add(P2|P5, "name-taken", "Other clients' objects have the names of the program's objects: the program must not write them. They change, and are then deleted: the program must create its own.", makes, namesTaken)
	add(0, "terminating", "The user's objects are being deleted, and a finalizer keeps them. Then their dependents are deleted: the program must not recreate them.", makes, atMost, die)
	add(0, "set-back", "Another controller reverts each write of one value: the program must not write endlessly.", atMost, opposeFirst)
	return all
}

// steps plays the first n steps of the script with play.
func steps(n int, play func(s *stage.Stage, i int)) stage.Step {
	return func(s *stage.Stage) {
		for i := range n {
			play(s, i)
		}
	}
}

// asTold plays a step that must end as without a fault.
func asTold(s *stage.Stage, i int) { s.Take(plays(i), keeps, counted) }

// rests waits until the stored state is as after a step without a fault, and stays so: a status may lag
// behind.
func rests(s *stage.Stage) { s.Take(keeps, rested, keeps) }

// rested waits until the program is silent, at most patienceAtRest.
func rested(s *stage.Stage) { s.Quiet(silence, patienceAtRest) }

// startsAfter starts the program for the first time after a step.
func startsAfter(i int) stage.Step {
	return func(s *stage.Stage) {
		if len(s.Judge.Told.Ends[i].Stored) == 0 {
			stage.Check(stage.NotJudged("no object exists after the step, so a program that starts then has nothing to do"))
		}
		scenario.WhileDown(steps(i+1, func(s *stage.Stage, i int) { plays(i)(s) }))(s)
	}
}

// atMost plays the script until the last step after which the program's objects exist, or any objects if it
// makes none. Then it waits until all is at rest.
func atMost(s *stage.Stage) {
	made := len(s.Judge.Told.AllMade()) > 0
	for last, end := range slices.Backward(s.Judge.Told.Ends) {
		if len(end.Made) > 0 || !made && len(end.Stored) > 0 {
			s.Take(steps(last+1, asTold), rests)
			return
		}
	}
	stage.Check(stage.NotJudged("no step leaves an object"))
}

// silently takes steps, and fails if the program tries a write meanwhile: P2.
func silently(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		begin := time.Now()
		s.Take(steps...)
		if writes := s.Tries(begin); len(writes) > 0 {
			s.Find(verdict.Found(P2, verdict.Noisy, time.Now(), "There was nothing to do, but the program sent %d writes. The first: %s", len(writes), writes[0].String()))
		}
	}
}

func never(*stage.Stage) bool { return false }

// makes ends the stage if the program makes no objects.
func makes(s *stage.Stage) {
	if len(s.Judge.Told.AllMade()) == 0 {
		stage.Check(stage.NotJudged("the program creates no object, it only changes the user's"))
	}
}

// met ends the stage if no request met the fault: then nothing was tested.
func met(s *stage.Stage) {
	if s.Met.Load() == 0 {
		stage.Check(stage.NotJudged("the program sent no request to which the fault applies"))
	}
}

// mostDown is how long a step may keep the program from acting.
const mostDown = 20 * time.Second

// during returns two steps. begin starts steps while the program cannot act, and waits until they have ended
// or enough returns true, at most mostDown. end waits for the rest: kubectl delete waits for a finalizer that
// only the program removes.
func during(enough func(s *stage.Stage) bool, steps ...stage.Step) (begin, end stage.Step) {
	ended := make(chan error, 1)
	begin = func(s *stage.Stage) {
		s.Playing.Go(func() {
			ended <- stage.Try(func() {
				for _, step := range steps {
					step(s)
				}
			})
		})
		s.Await(mostDown, func() bool { return enough(s) || len(ended) > 0 })
	}
	return begin, func(*stage.Stage) { stage.Check(<-ended) }
}

// onFirst injects a fault into the first try of each different write of each step.
func onFirst(fault testkit.Fault) stage.Step {
	return func(s *stage.Stage) {
		var tried sync.Map
		s.Proxy.OnWrite(func(_ int, r *http.Request) testkit.Fault {
			_, again := tried.LoadOrStore(fmt.Sprint(s.Part.Step, r.Method, r.URL.Path), true)
			if again || stage.Spared(testkit.TargetOf(r.URL.Path)) {
				return testkit.Pass
			}
			s.Met.Add(1)
			return fault
		})
	}
}

// refused plays a step while writes are rejected for the first seconds. Meanwhile the program must not delete
// its last object.
func refused(code int, methods ...string) func(s *stage.Stage, i int) {
	return func(s *stage.Stage, i int) {
		writes := map[string]bool{}
		for _, r := range s.Judge.Told.Ends[i].Writes {
			if len(methods) == 0 || slices.Contains(methods, r.Method) {
				writes[r.Method+r.Path] = true
			}
		}
		if len(writes) == 0 {
			asTold(s, i)
			return
		}
		before := s.Met.Load()
		met := func(s *stage.Stage) bool { return s.Met.Load() > before }
		begin, end := during(met, plays(i))
		isMet := func(s *stage.Stage) { s.Await(mostDown, func() bool { return met(s) }) } // On a slow machine it takes a while.
		s.Take(scenario.Few(40*len(writes), scenario.Disturbed(6*time.Second, scenario.Refusing(code, methods...), begin, isMet)), end, keeps, counted)
	}
}

// unseen plays a step while the watches of the program's objects deliver nothing.
func unseen(s *stage.Stage, i int) {
	holds := func(s *stage.Stage) {
		for resource := range alive(s.Judge.Told.AllMade()) {
			defer s.Proxy.HoldWatches(resource)()
		}
		s.Take(plays(i), scenario.Wait(8*time.Second))
	}
	s.Take(holds, keeps, counted)
}

// missed plays the first step. Then the program misses the steps up to the last but one, and then the last.
// There are only two such periods, because the program waits longer each time before it reads again.
func missed(s *stage.Stage) {
	asTold(s, 0)
	var unheard []stage.Step
	for i, n := 1, len(s.Judge.Told.Steps); i < n; i++ {
		unheard = append(unheard, plays(i))
		if i >= n-2 {
			begin, end := during(never, unheard...)
			s.Take(scenario.Disturbed(8*time.Second, scenario.Unreadable, scenario.Cut, begin), end, scenario.Gone, keeps)
			unheard = nil
		}
	}
}

// stale plays a step, and then starts the program with a list from before it. If an object of the user was
// being deleted in this or an earlier step, a list from that moment follows.
func stale(s *stage.Stage, i int) {
	if i == 0 {
		asTold(s, 0)
		return
	}
	before := scenario.Version(s)
	s.Take(plays(i), rests, undoes(before, verdict.Undone, "from before this step"), keeps)
	s.Part.Dying = cmp.Or(dyingSince(s, before), s.Part.Dying)
	if s.Part.Dying != "" {
		s.Take(undoes(s.Part.Dying, verdict.Mistaken, "in which an object of the user is being deleted"), keeps)
	}
}

// undoes starts the program as of a version, after a finished step. The program must not change anything
// then: P6.
func undoes(version string, why *verdict.Lesson, when string) stage.Step {
	return func(s *stage.Stage) {
		before, began := versions(s), time.Now()
		scenario.StartAsOf(s, version, 6*time.Second, false)
		after := versions(s)
		var sent []string
		for _, r := range accepted(s, began) {
			object := r.Target.Resource + " " + r.Target.Name
			changed := r.Method == http.MethodDelete || r.Target.Name == "" || before[object] != after[object]
			if changed && len(sent) < stage.MostLines {
				sent = append(sent, "  "+r.String())
			}
		}
		if len(sent) > 0 {
			s.Find(verdict.Found(P6, why, time.Now(), "After %s the program was silent. Restarted with a list %s, it sent:\n%s", lastStep(s), when, strings.Join(sent, "\n")))
		}
	}
}

func versions(s *stage.Stage) map[string]string {
	_, objects := s.Look()
	versions := map[string]string{}
	for _, o := range objects {
		versions[o.Resource.Resource+" "+o.GetName()] = o.GetResourceVersion()
	}
	return versions
}

// dyingSince returns the first version after this one at which an object of the user was being deleted, or
// "".
func dyingSince(s *stage.Stage, version string) string {
	for resource := range s.Judge.Told.Users {
		events := stage.Must(s.Client(resource).Watch(s.Ctx, metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: new(int64(1))}))
		defer events.Stop()
		for event := range events.ResultChan() {
			if o, is := event.Object.(*unstructured.Unstructured); is && event.Type == watch.Modified && o.GetDeletionTimestamp() != nil {
				return o.GetResourceVersion()
			}
		}
	}
	return ""
}

func itsObjects(s *stage.Stage) []*stage.Stored {
	_, objects := s.Look()
	return slices.DeleteFunc(objects, func(o *stage.Stored) bool { return !s.Judge.Told.IsMade(o) })
}

// driftEach changes each value that the program has set. The program must set it back: P1.
func driftEach(s *stage.Stage) {
	const enough = 5
	var wrong, allow []string
	tried := 0
	_, objects := s.Look()
	for _, o := range objects {
		for _, leaf := range setIn(s.Judge.Told, o) {
			name := s.Scenario.Name + " " + o.Resource.Resource + " " + leaf.Path
			if s.Judge.Told.Allows(name) || len(wrong) > enough {
				continue
			}
			admitted, back := setsBack(s, o, leaf)
			if admitted {
				tried++
			}
			if admitted && !back {
				wrong, allow = append(wrong, "  "+o.Name+" "+leaf.Path), append(allow, name)
			}
		}
	}
	if tried == 0 {
		stage.Check(stage.NotJudged("the program has set no value that users can change"))
	}
	if len(wrong) > enough {
		wrong, allow = append(wrong[:enough], "  and at least one more value; the judge stopped after it"), allow[:enough]
	}
	if len(wrong) > 0 {
		f := verdict.Found(P1, verdict.Drifted, time.Now(), "A user changed these values of the program, and after %s the program had not set them back:\n%s", onItsWay, strings.Join(wrong, "\n"))
		f.Allow = allow
		s.Find(f)
	}
}

// onItsWay is how long the program may take to set a value back. After that the judge does it.
const onItsWay = 5 * time.Second

// setIn returns the stored values that the program has sent to create an object. For the user's object it
// returns the values that the program has written.
func setIn(t *stage.Told, o *stage.Stored) []script.Leaf {
	sent := map[string]bool{}
	if t.IsMade(o) {
		for _, leaf := range script.Leaves(t.SentFor(o)) {
			sent[leaf.Path] = true
		}
	} else {
		script.WrittenBy(o.Unstructured, t.IsProgram).Leaves().Iterate(func(path fieldpath.Path) { sent[path.String()] = true })
	}
	return slices.DeleteFunc(script.Leaves(o.Object), func(leaf script.Leaf) bool { return !sent[leaf.Path] })
}

// setsBack changes a value. It reports whether the API server admits the change, and whether the program sets
// it back.
func setsBack(s *stage.Stage, o *stage.Stored, leaf script.Leaf) (admitted, back bool) {
	if !change(s, o, leaf, leaf.Other()) {
		return false, false
	}
	back = s.Await(onItsWay, func() bool {
		now, err := s.Client(o.Resource).Get(s.Ctx, o.GetName(), metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(script.Leaves(now.Object), func(now script.Leaf) bool { return now.Path == leaf.Path && now.Value == leaf.Value })
	})
	if !back {
		change(s, o, leaf, leaf.Value)
	}
	return true, back
}

// change changes a value of an object, like another user. It reports whether the API server admits it.
func change(s *stage.Stage, o *stage.Stored, leaf script.Leaf, value any) (admitted bool) {
	_, err := s.Client(o.Resource).Patch(s.Ctx, o.GetName(), types.JSONPatchType, stage.Encoded([]stage.Object{{"op": "replace", "path": leaf.Pointer, "value": value}}), metav1.PatchOptions{})
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
		return false
	}
	stage.Check(err)
	return true
}

func deleteMade(s *stage.Stage) {
	for _, o := range itsObjects(s) {
		remove(s, o)
	}
}

func remove(s *stage.Stage, o *stage.Stored) {
	stage.Check(scenario.IgnoreNotFound(s.Client(o.Resource).Delete(s.Ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})))
}

// die deletes the user's objects, which a finalizer holds, and then the program's objects for them: P4.
func die(s *stage.Stage) {
	_, objects := s.Look()
	for _, o := range objects {
		if s.Judge.Told.IsUsers(o) {
			held := stage.Encoded(stage.Object{"metadata": stage.Object{"finalizers": append(o.GetFinalizers(), "example.com/held")}})
			stage.Must(s.Client(o.Resource).Patch(s.Ctx, o.GetName(), stage.MergePatch, held, metav1.PatchOptions{}))
			stage.Check(s.Client(o.Resource).Delete(s.Ctx, o.GetName(), metav1.DeleteOptions{}))
		}
	}
	s.Take(rested, deleteMade, rested)
	for _, o := range itsObjects(s) {
		if o.GetDeletionTimestamp() == nil { // A deleted object has one, or is gone.
			s.Find(verdict.Found(P4, verdict.ForTheDying, time.Now(), "The user's objects have a deletionTimestamp, and a finalizer keeps them. Their dependents were deleted, but the program recreated %s.", o.Name))
		}
	}
}

// keepsAfterFight is keeps for a program that repeats its writes: it may report a fight until its write has
// held for a minute, and doubles its pauses.
func keepsAfterFight(s *stage.Stage) { keepsWithin(s, 2*max(s.Bound, stage.UsualBound)) }

// opposeFirst keeps changing the first value that the program sets back: P7.
func opposeFirst(s *stage.Stage) {
	_, objects := s.Look()
	for _, o := range objects {
		for _, leaf := range setIn(s.Judge.Told, o) {
			if _, back := setsBack(s, o, leaf); back {
				oppose := func(s *stage.Stage) { change(s, o, leaf, leaf.Other()) }
				s.Take(scenario.Meanwhile(5*time.Millisecond, oppose, scenario.FewTries(false, 15, verdict.Endless, scenario.Wait(15*time.Second))))
				keepsAfterFight(s)
				return
			}
		}
	}
	stage.Check(stage.NotJudged("the program reverts no change"))
}

// namesTaken plays the script until the program makes objects, while other objects have their names. The
// program must not write these (P5), nor write anything because they change (P2). When the names are free it
// makes its objects.
func namesTaken(s *stage.Stage) {
	t := s.Judge.Told
	first := slices.IndexFunc(t.Ends, func(end stage.End) bool { return len(end.Made) > 0 })
	var strangers []*stage.Stored
	for _, o := range t.Ends[first].Made {
		if t.Generated[o.Resource.Resource] {
			stage.Check(stage.NotJudged("the program's objects have a new name each time"))
		}
		strangers = append(strangers, stranger(s, o))
	}
	// A program that gets no event retries with growing pauses, so no silence is required.
	s.Take(steps(first, asTold), plays(first), scenario.Few(40*len(strangers), func(s *stage.Stage) { s.Quiet(silence, 12*time.Second) }))
	written := len(accepted(s, s.Begin))
	for _, o := range strangers {
		for _, leaf := range setIn(t, o) {
			if change(s, o, leaf, leaf.Other()) {
				break
			}
		}
	}
	s.Quiet(2*silence, patienceAtRest)
	if now := accepted(s, s.Begin); len(now) > written {
		s.Find(verdict.Found(P2, verdict.Noisy, time.Now(), "Other clients' objects have the names of the program's objects. These objects changed, and then the program wrote: %s", now[written].String()))
	}
	for _, o := range strangers {
		for _, r := range accepted(s, s.Begin) {
			if r.Target.Resource+" "+r.Target.Name == o.Name {
				s.Find(verdict.Found(P5, verdict.Foreign, r.At, "The program changed or deleted %s, which belongs to another client: %s", o.Name, r.String()))
			}
		}
		remove(s, o)
	}
	keeps(s)
}

func accepted(s *stage.Stage, since time.Time) []verdict.Request {
	return slices.DeleteFunc(s.Tries(since), func(r verdict.Request) bool { return r.Code != http.StatusOK && r.Code != http.StatusCreated })
}

// stranger creates another owner's object under the name of one that the program makes. Each value that the
// API server lets change is different.
func stranger(s *stage.Stage, o *stage.Stored) *stage.Stored {
	sent := (&unstructured.Unstructured{Object: s.Judge.Told.SentFor(o)}).DeepCopy()
	labels := sent.GetLabels()
	delete(sent.Object, "status")
	sent.Object["metadata"] = stage.Object{}
	sent.SetName(o.GetName())
	sent.SetLabels(labels)
	client := s.Client(o.Resource)
	for _, leaf := range script.Leaves(sent.Object) {
		leaf.Set(leaf.Other())
		if s.Api != nil {
			continue // It validates nothing here.
		}
		if _, err := client.Create(s.Ctx, sent, scenario.DryRun); err != nil {
			leaf.Set(leaf.Value)
		}
	}
	return &stage.Stored{Unstructured: stage.Must(client.Create(s.Ctx, sent, metav1.CreateOptions{})), Resource: o.Resource, Name: o.Name}
}
