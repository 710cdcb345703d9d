package court

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

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/script"
)

// scenarios are those of a script about any kind.
func (t *told) scenarios() (all []scenario) {
	add := func(name, what string, steps ...step) {
		all = append(all, scenario{name: name, what: what, judged: P1 | P2 | P3 | P4 | P5 | P6 | P7, steps: steps})
	}
	n := len(t.Steps)
	add("killed-before-write", "SIGKILL in place of each different write, once; then it is started again.", onFirst(testkit.KillBefore), steps(n, asTold))
	add("killed-after-write", "SIGKILL after each different write, before its answer, once; then it is started again.", onFirst(testkit.KillAfter), steps(n, asTold))
	add("answer-lost", "Each different write takes effect, and its answer is lost, once.", onFirst(testkit.LoseAnswer), steps(n, asTold))
	add("down", "The program is down in each step.", steps(n, func(s *stage, i int) { s.take(whileDown(plays(i)), keeps) }))
	for i, step := range t.Steps {
		if i > 0 {
			add("fresh-"+step.Name, "The program is started for the first time after step "+step.Name+".", whileDown(steps(i+1, func(s *stage, i int) { plays(i)(s) })), keeps)
		}
	}
	add("refused-403", "In each step it may not write what it makes (403), for 6 s.", steps(n, refused(http.StatusForbidden)))
	add("refused-422", "In each step a policy refuses what it makes (422), for 6 s.", steps(n, refused(http.StatusUnprocessableEntity)))
	add("refused-500", "In each step a webhook does not answer (500), so that what it makes cannot be written, for 6 s.", steps(n, refused(http.StatusInternalServerError)))
	add("refused-create", "In each step a quota is full, so that nothing can be created (403), for 6 s.", steps(n, refused(http.StatusForbidden, http.MethodPost)))
	if n > 1 {
		add("events-missed", "The watches are cut, and nothing can be read, while the script goes on after its first step; the old watches cannot be resumed (410 Gone).", missed)
		add("stale-start", "The program starts after each step, and its first list of the user's objects is older than that: from before the step, and from when one of them was being deleted; the API server refuses streaming lists.", steps(n, stale))
	}
	add("restart", "The program is ended and started again, and nothing has changed: it writes nothing.", atMost, silently(whileDown(), (*stage).ready, wait(12*time.Second)), keeps)
	add("drift", "A person changes each value that the program has set.", atMost, driftEach, keeps)
	add("deleted", "A person deletes what the program has made.", atMost, deleteMade, keeps)
	add("name-taken", "The names of what the program makes are taken by others' objects, which change, and then go.", namesTaken)
	add("dying", "The user's objects are deleted, and a finalizer holds them. Then what was made for them is deleted: it is not made again.", atMost, die)
	add("set-back", "Another controller changes a value, whenever the program has set it. It does not write without end.", atMost, opposeFirst)
	return all
}

// steps plays the first steps of the script in a way.
func steps(n int, play func(s *stage, i int)) step {
	return func(s *stage) {
		for i := range n {
			play(s, i)
		}
	}
}

// asTold plays a step, which ends as without a fault.
func asTold(s *stage, i int) { s.take(plays(i), keeps, counted) }

// rests waits until all is stored as after a step without a fault, and stays so: a status may lag behind.
func rests(s *stage) { s.take(keeps, rested, keeps) }

// rested waits until the program is silent for some time, or patience is over.
func rested(s *stage) { s.quiet(silence, patienceAtRest) }

// atMost plays the script until the last step after which there is something that the program has made, and then until all is at rest.
func atMost(s *stage) {
	for last, end := range slices.Backward(s.judge.told.ends) {
		if len(end.made) > 0 {
			s.take(steps(last+1, asTold), rests)
			return
		}
	}
	check(makesNothing)
}

const makesNothing = notJudged("the program makes nothing")

// onFirst makes a fault happen to the first try of each different write of each step.
func onFirst(fault testkit.Fault) step {
	return func(s *stage) {
		var tried sync.Map
		s.proxy.OnWrite(func(_ int, r *http.Request) testkit.Fault {
			_, again := tried.LoadOrStore(fmt.Sprint(s.part.step, r.Method, r.URL.Path), true)
			if again || s.judge.isLock(testkit.TargetOf(r.URL.Path)) {
				return testkit.Pass
			}
			return fault
		})
	}
}

// refused plays a step while writes of what the program makes are refused for the first seconds. Meanwhile it must not take
// away the last of what it has made.
func refused(code int, methods ...string) func(s *stage, i int) {
	return func(s *stage, i int) {
		writes, play := map[string]bool{}, plays(i)
		for _, r := range s.judge.told.ends[i].writes {
			if !slices.Contains(s.ours(), r.Target.Resource) {
				writes[r.Method+r.Path] = true
			}
		}
		if len(writes) > 0 {
			play = few(40*len(writes), disturbed(6*time.Second, refusing(code, methods...), play))
		}
		s.take(play, keeps, counted)
	}
}

// missed plays a script of which the program misses all between the first step and the last one, and then the last one.
// It misses something twice at most: each time it waits longer before it reads again.
func missed(s *stage) {
	asTold(s, 0)
	unheard, n := []step{cut}, len(s.judge.told.Steps)
	for i := 1; i < n; i++ {
		unheard = append(unheard, plays(i))
		if i >= n-2 {
			s.take(disturbed(8*time.Second, unreadable, unheard...), gone, keeps)
			unheard = []step{cut}
		}
	}
}

// stale plays a step, and then starts the program with a list from before it. If an object of the user was being deleted
// in this step or in one before it, it also starts with a list from that moment.
func stale(s *stage, i int) {
	if i == 0 {
		asTold(s, 0)
		return
	}
	before := s.version()
	s.take(plays(i), rests, undoes(before, undone, "from before it"), keeps)
	s.part.dying = cmp.Or(s.dyingSince(before), s.part.dying)
	if s.part.dying != "" {
		s.take(undoes(s.part.dying, mistaken, "from when an object of the user was being deleted"), keeps)
	}
}

// undoes starts the program as of a version, after a step. What it changes then, it changes because of that: P6.
func undoes(version string, why *lesson, when string) step {
	return func(s *stage) {
		before, began := s.versions(), time.Now()
		s.startAsOf(version, 6*time.Second, false)
		after := s.versions()
		var sent []string
		for _, r := range s.accepted(began) {
			object := r.Target.Resource + " " + r.Target.Name
			changed := r.Method == http.MethodDelete || r.Target.Name == "" || before[object] != after[object]
			if changed && len(sent) < mostLines {
				sent = append(sent, "  "+r.String())
			}
		}
		if len(sent) > 0 {
			s.find(found(P6, why, time.Now(), "After %s all was done. The program was started again with a list %s, and has sent:\n%s", s.lastStep(), when, strings.Join(sent, "\n")))
		}
	}
}

// versions are those of the objects that are compared, by resource and name.
func (s *stage) versions() map[string]string {
	_, objects := s.look()
	versions := map[string]string{}
	for _, o := range objects {
		versions[o.resource.Resource+" "+o.GetName()] = o.GetResourceVersion()
	}
	return versions
}

// dyingSince returns the first version since another one at which an object of the user was being deleted, or "".
func (s *stage) dyingSince(version string) string {
	for resource := range s.judge.told.users {
		events := must(s.client(resource).Watch(s.ctx, metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: new(int64(1))}))
		defer events.Stop()
		for event := range events.ResultChan() {
			if o, is := event.Object.(*unstructured.Unstructured); is && event.Type == watch.Modified && o.GetDeletionTimestamp() != nil {
				return o.GetResourceVersion()
			}
		}
	}
	return ""
}

// itsObjects returns what the program has made.
func (s *stage) itsObjects() []*stored {
	_, objects := s.look()
	return slices.DeleteFunc(objects, func(o *stored) bool { return !s.judge.told.isMade(o) })
}

// sentFor is what the program has sent to create an object.
func (t *told) sentFor(o *stored) object {
	sent, exactly := t.sent.Load(o.resource.Resource + " " + o.GetName())
	if !exactly {
		sent, _ = t.sent.Load(o.resource.Resource)
	}
	created, _ := sent.(object)
	return created
}

// driftEach changes each value that the program has sent for what it made: it is set back. P1.
func driftEach(s *stage) {
	const enough = 5
	var wrong, allow []string
	for _, o := range s.itsObjects() {
		for _, leaf := range s.judge.told.setIn(o) {
			name := s.scenario.name + " " + o.resource.Resource + " " + leaf.Path
			if s.judge.told.Allows(name) || len(wrong) == enough {
				continue
			}
			if admitted, back := s.setsBack(o, leaf); admitted && !back {
				wrong, allow = append(wrong, "  "+o.name+" "+leaf.Path), append(allow, name)
			}
		}
	}
	if len(wrong) > 0 {
		f := found(P1, drifted, time.Now(), "The program has set these values. A person has changed each, and after %s it was not set back:\n%s", onItsWay, strings.Join(wrong, "\n"))
		f.allow = allow
		s.find(f)
	}
}

// onItsWay is how long the program may take to set a value back. Then the judge does.
const onItsWay = 5 * time.Second

// setIn are the values of an object that the program has sent, as they are stored.
func (t *told) setIn(o *stored) []script.Leaf {
	sent := map[string]bool{}
	for _, leaf := range script.Leaves(t.sentFor(o)) {
		sent[leaf.Path] = true
	}
	return slices.DeleteFunc(script.Leaves(o.Object), func(leaf script.Leaf) bool { return !sent[leaf.Path] })
}

// setsBack gives a value another one, and reports whether the API server admits that, and whether the program sets it back.
func (s *stage) setsBack(o *stored, leaf script.Leaf) (admitted, back bool) {
	if !s.change(o, leaf, leaf.Other()) {
		return false, false
	}
	back = s.await(onItsWay, func() bool {
		now, err := s.client(o.resource).Get(s.ctx, o.GetName(), metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(script.Leaves(now.Object), func(now script.Leaf) bool { return now.Path == leaf.Path && now.Value == leaf.Value })
	})
	if !back {
		s.change(o, leaf, leaf.Value)
	}
	return true, back
}

// change gives a value of an object another one, as another user does. The API server may not admit that.
func (s *stage) change(o *stored, leaf script.Leaf, value any) (admitted bool) {
	_, err := s.client(o.resource).Patch(s.ctx, o.GetName(), types.JSONPatchType, encoded([]object{{"op": "replace", "path": leaf.Pointer, "value": value}}), metav1.PatchOptions{})
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
		return false
	}
	check(err)
	return true
}

// deleteMade deletes what the program has made.
func deleteMade(s *stage) {
	for _, o := range s.itsObjects() {
		s.delete(o)
	}
}

// delete deletes an object, if it is there.
func (s *stage) delete(o *stored) {
	check(ignoreNotFound(s.client(o.resource).Delete(s.ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})))
}

// die deletes the user's objects, which a finalizer holds, and then what was made for them: P4.
func die(s *stage) {
	_, objects := s.look()
	for _, o := range objects {
		if o.isUsers() {
			held := encoded(object{"metadata": object{"finalizers": append(o.GetFinalizers(), "example.com/held")}})
			must(s.client(o.resource).Patch(s.ctx, o.GetName(), mergePatch, held, metav1.PatchOptions{}))
			check(s.client(o.resource).Delete(s.ctx, o.GetName(), metav1.DeleteOptions{}))
		}
	}
	s.take(rested, deleteMade, rested)
	for _, o := range s.itsObjects() {
		if o.GetDeletionTimestamp() == nil { // What was deleted has one, or is gone.
			s.find(found(P4, forTheDying, time.Now(), "The user's objects have a deletionTimestamp, and a finalizer holds them. What was made for them was deleted, and the program has made %s again.", o.name))
		}
	}
}

// opposeFirst sets the first value that the program sets back to another one, again and again: P7.
func opposeFirst(s *stage) {
	for _, o := range s.itsObjects() {
		for _, leaf := range s.judge.told.setIn(o) {
			if _, back := s.setsBack(o, leaf); back {
				oppose := func(s *stage) { s.change(o, leaf, leaf.Other()) }
				s.take(meanwhile(5*time.Millisecond, oppose, fewTries(false, 15, endless, wait(15*time.Second))))
				s.keepsWithin(2 * s.bound) // Who doubles its pauses may have to wait as long again.
				return
			}
		}
	}
	check(notJudged("the program sets no value back"))
}

// namesTaken plays the script until the program makes something, whose names are taken: nothing of others is written (P5), and
// what they do is no reason to write anything (P2). When the names are free the program makes what it makes.
func namesTaken(s *stage) {
	t := s.judge.told
	first := slices.IndexFunc(t.ends, func(end end) bool { return len(end.made) > 0 })
	if first < 0 {
		check(makesNothing)
	}
	var strangers []*stored
	for _, o := range t.ends[first].made {
		if t.generated[o.resource.Resource] {
			check(notJudged("what the program makes has another name each time"))
		}
		strangers = append(strangers, s.stranger(o))
	}
	// Who hears nothing tries again, more and more seldom: no silence is asked for.
	s.take(steps(first, asTold), plays(first), few(40*len(strangers), func(s *stage) { s.quiet(silence, 12*time.Second) }))
	written := len(s.accepted(s.begin))
	for _, o := range strangers {
		for _, leaf := range t.setIn(o) {
			if s.change(o, leaf, leaf.Other()) {
				break
			}
		}
	}
	s.quiet(2*silence, patienceAtRest)
	if now := s.accepted(s.begin); len(now) > written {
		s.find(found(P2, noisy, time.Now(), "The names of what the program makes are taken. What has them was changed, and the program has written because of that: %s", now[written].String()))
	}
	for _, o := range strangers {
		now, err := s.client(o.resource).Get(s.ctx, o.GetName(), metav1.GetOptions{})
		check(ignoreNotFound(err))
		switch {
		case err != nil || now.GetUID() != o.GetUID():
			s.find(found(P5, foreign, time.Now(), "The program has deleted %s, which is not its own.", o.name))
		case !script.WrittenBy(now, t.isProgram).Empty():
			s.find(found(P5, foreign, time.Now(), "The program has written %s, which is not its own.", o.name))
		}
		s.delete(o)
	}
	keeps(s)
}

// accepted are the writes of the program since a moment that the API server has accepted.
func (s *stage) accepted(since time.Time) []request {
	return slices.DeleteFunc(s.tries(since), func(r request) bool { return r.Code != http.StatusOK && r.Code != http.StatusCreated })
}

// stranger creates another's object in the place of one that the program makes: like it, and other in each value
// that the API server lets be another one.
func (s *stage) stranger(o *stored) *stored {
	sent := (&unstructured.Unstructured{Object: s.judge.told.sentFor(o)}).DeepCopy()
	labels := sent.GetLabels()
	delete(sent.Object, "status")
	sent.Object["metadata"] = object{}
	sent.SetName(o.GetName())
	sent.SetLabels(labels)
	client := s.client(o.resource)
	for _, leaf := range script.Leaves(sent.Object) {
		leaf.Set(leaf.Other())
		if _, err := client.Create(s.ctx, sent, dryRun); err != nil {
			leaf.Set(leaf.Value)
		}
	}
	return &stored{must(client.Create(s.ctx, sent, metav1.CreateOptions{})), o.resource, o.name}
}
