package court

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/script"
)

// kind is what a program in memory is about, if that is no Foo. What it makes of an object the judge
// learns from the run without a fault: what is right it does not know.
type kind struct {
	testkit.Resource
	sample *unstructured.Unstructured
	// made are the paths of what the program makes for an object a, in a namespace NAMESPACE, and labels
	// what it labels each with. begun and changed are all that is stored when the script has begun, and at
	// its end.
	made           []string
	labels         []map[string]string
	begun, changed string
}

// readKind reads the definition and the sample in the folder config of a program, as make new has them. It
// returns nil if there is no definition.
func readKind(dir string) (*kind, error) {
	definition, err := os.ReadFile(filepath.Join(dir, "config", "crd.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	k := &kind{sample: &unstructured.Unstructured{}}
	sample, sampleErr := os.ReadFile(filepath.Join(dir, "config", "sample.yaml"))
	if err := cmp.Or(err, sampleErr); err != nil {
		return nil, err
	}
	if k.Resource, err = testkit.Custom(definition); err != nil {
		return nil, err
	}
	return k, yaml.Unmarshal(sample, &k.sample.Object)
}

// words replaces those of Foos by those of the kind, if there is one.
func (k *kind) words() *strings.Replacer {
	if k == nil {
		return strings.NewReplacer()
	}
	return strings.NewReplacer("Foo", k.Kind, "then scaled and renamed", "then changed", "scaled and renamed", "changed", "the image in", "a value of",
		"a Deployment", "an object that it makes", "The Deployment", "The object that it makes", "Deployment", "object that it makes")
}

// inItsWords says what is wrong in words of the kind. What is done right is in byhand, with its Foos,
// and a real bug is what it was.
func (k *kind) inItsWords(r *result) {
	words := k.words()
	for i := range r.Violations {
		v := &r.Violations[i]
		v.Seen, v.Why, v.Right = words.Replace(v.Seen), words.Replace(v.Why), "as byhand does with Foos and their Deployments: "+v.Right
	}
}

// scenarios returns those that the API server in memory can play: for Foos, if there is no kind, and otherwise those that any
// kind can play, in its own words, and always the one without a fault that teaches the judge what is right.
func (k *kind) scenarios(chosen []scenario) (playable []scenario) {
	if k == nil {
		return slices.DeleteFunc(slices.Clone(chosen), func(sc scenario) bool { return sc.real })
	}
	words, steps := k.words(), ofAnyKind()
	for _, sc := range scenarios {
		if sc.name != "create" && !slices.ContainsFunc(chosen, func(c scenario) bool { return c.name == sc.name }) {
			continue
		}
		if steps := steps[sc.name]; steps != nil || sc.perWrite != testkit.Pass {
			sc.what, sc.steps, sc.judged, sc.unplayed = words.Replace(sc.what), steps, sc.judged&^(P3|P8), true
			playable = append(playable, sc)
		}
	}
	return playable
}

// ofAnyKind are the steps of scenarios for a kind that is no Foo.
func ofAnyKind() map[string][]step {
	return map[string][]step{
		"create":             {added, atRest, learnBegun, changedByUser, atRest, learnChanged},
		faultFree:            {added, kept(P1, absent, true), changedByUser, kept(P1, absent, false)},
		"restart":            {added, atRest, silently(whileDown(), atRest)},
		"idle":               {added, atRest, silently(wait(65 * time.Minute))},
		"image-changed":      {added, atRest, driftedByHand, kept(P1, drifted, true)},
		"deployment-deleted": {added, atRest, removed, kept(P1, absent, true)},
		"name-taken":         {taken(false), forgotten, taken(true)},
		"name-freed":         {taken(false), removed, kept(P1, absent, true)},
		"deleted-background": {added, atRest, deleted(""), collected, goneForGood},
		"deleted-foreground": {added, atRest, deleted("example.com/held"), goneForGood},
		"events-missed":      {added, atRest, disturbed(8*time.Second, unreadable, cut, changedByUser, removed, compacted), kept(P1, absent, false)},
		"own-writes-unseen":  {added, atRest, heldMade(8*time.Second, changedByUser), kept(P1, absent, false)},
		"silent-network":     {added, atRest, disturbed(15*time.Second, hanging(15*time.Second), changedByUser), kept(P6, different, false)},
		"conflicts":          {added, contended(10*time.Second, wait(2*time.Second), changedByUser), kept(P6, different, false)},
		"overloaded":         {added, atRest, few(100, disturbed(10*time.Second, overloaded, cut, changedByUser)), kept(P6, different, false)},
		"rights-taken":       {added, atRest, few(40, disturbed(15*time.Second, refusing(http.StatusForbidden), changedByUser)), kept(P1, absent, false)},
		"policy":             {added, atRest, few(40, disturbed(15*time.Second, refusing(http.StatusUnprocessableEntity), changedByUser)), kept(P6, different, false)},
		"webhook-down":       {added, atRest, few(40, disturbed(15*time.Second, refusing(http.StatusInternalServerError), changedByUser)), kept(P1, absent, false)},
		"webhook-changes":    {added, atRest, driftedAlways(fewTries(false, 15, endless, driftedByHand, wait(time.Minute))), driftedByHand, kept(P1, absent, true)},
		"denied-with-ids":    {added, atRest, disturbed(15*time.Second, refusing(denied), fewTries(true, 5, repeated, changedByUser, wait(15*time.Second))), kept(P1, absent, false)},
		"two-at-a-time":      {second, added, atRest, killFirst, changedByUser, kept(P6, different, false)},
	}
}

// path is where an object of the kind is.
func (s *stage) path() string {
	k := s.judge.kind
	return fmt.Sprintf("/apis/%s/namespaces/%s/%s/a", k.GroupVersion(), s.namespace, k.Plural)
}

// made returns the paths of what is stored besides objects of the kind.
func (s *stage) made() (paths []string) {
	for _, c := range s.api.History() {
		if s.api.Get(c.Path) != nil && !slices.Contains(s.ours(), testkit.TargetOf(c.Path).Resource) {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// stored is all that is stored as text, without what is different each time.
func (s *stage) stored() string {
	names, text := []string{s.namespace, "NAMESPACE"}, ""
	for _, path := range append(s.api.Paths(s.judge.kind.Plural), s.made()...) {
		object := s.api.Get(path).DeepCopy()
		names = append(names, string(object.GetUID()), "UID-OF-"+object.GetName())
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "annotations"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		text += path + ":\n" + mustYAML(object.Object)
	}
	return script.Timeless(strings.NewReplacer(names...).Replace(text))
}

func learnBegun(s *stage) {
	k := s.judge.kind
	if k.begun = s.stored(); len(s.made()) == 0 {
		s.fail(found(P1, untouched, time.Now(), "Of config/sample.yaml the program makes nothing."))
	}
	for _, path := range s.made() {
		k.made, k.labels = append(k.made, strings.Replace(path, "/"+s.namespace+"/", "/NAMESPACE/", 1)), append(k.labels, s.api.Get(path).GetLabels())
	}
}

func learnChanged(s *stage) {
	s.judge.kind.changed, s.baseline, s.writes = s.stored(), s.stored(), len(s.tries(s.begin))
}

// added creates the object a, like the sample.
func added(s *stage) { s.api.Add(s.path(), s.judge.kind.sample.DeepCopy()) }

// atRest waits until the program has tried no write for a minute.
func atRest(s *stage) {
	const quiet, patience = time.Minute, 20 * time.Minute
	if !s.quiet(quiet, patience) {
		s.fail(found(P2, noisy, time.Now(), "There is nothing to do, and in %s the program has not been silent for %s.", patience, quiet))
	}
}

// kept waits until all is stored as in the run without a fault, when the script has begun or at its end,
// and then until the program is silent.
func kept(p properties, l *lesson, begun bool) step {
	return func(s *stage) {
		want, now, version := s.judge.kind.changed, "", -1
		if begun {
			want = s.judge.kind.begun
		}
		const bound = 5 * time.Minute // A resync is no way to notice something.
		s.within(bound, func() bool {
			if changed := s.api.Version(); changed != version {
				now, version = s.stored(), changed
			}
			return now == want
		}, func() finding {
			return found(p, l, time.Now(), "Without the fault (-), and %s after it (+):\n%s", bound, gocmp.Diff(want, now))
		})
		atRest(s)
	}
}

// silently takes steps, and fails if the program tries a write meanwhile: P2.
func silently(steps ...step) step {
	return func(s *stage) {
		begin := time.Now()
		s.take(steps...)
		if writes := s.tries(begin); len(writes) > 0 {
			s.find(found(P2, noisy, time.Now(), "Nothing was to do, and the program has sent %d writes. The first: %s", len(writes), writes[0].String()))
		}
	}
}

// fewTries takes steps, and fails if the program meanwhile tries one write, of a status or of all else, more often than that, with
// or without success.
func fewTries(ofStatus bool, most int, why *lesson, steps ...step) step {
	return func(s *stage) {
		begin, tried := time.Now(), map[string]int{}
		s.take(steps...)
		for _, w := range s.tries(begin) {
			if write := w.Method + " " + w.Target.String(); (w.Target.Subresource == "status") == ofStatus {
				if tried[write]++; tried[write] == most+1 {
					s.find(found(P7, why, w.At, "The program has tried %s for the %dth time in %s; %d times are enough.", write, most+1, w.At.Sub(begin).Round(time.Second), most))
				}
			}
		}
	}
}

// changedByUser changes the first value in the spec that the schema lets be another one.
func changedByUser(s *stage) {
	s.api.Edit(s.path(), func(object *unstructured.Unstructured) {
		drift(object.Object, func() bool { return len(s.judge.kind.Schema.Validate(nil, nil, object.Object)) == 0 })
	})
}

// driftedByHand changes the first value of each object that the program has made.
func driftedByHand(s *stage) {
	for _, path := range s.made() {
		s.api.Edit(path, func(object *unstructured.Unstructured) { drift(object.Object, func() bool { return true }) })
	}
}

// drift changes the first value with which admitted returns true.
func drift(object map[string]any, admitted func() bool) {
	for _, leaf := range script.Leaves(object) {
		leaf.Set(leaf.Other())
		if admitted() {
			return
		}
		leaf.Set(leaf.Value)
	}
}

// driftedAlways takes steps while what the program writes drifts on its way, each time with another annotation.
func driftedAlways(steps ...step) step {
	return func(s *stage) {
		s.proxy.Mutate(func(r *http.Request, object map[string]any) {
			if s.writesMade(r) {
				drift(object, func() bool { return true })
				(&unstructured.Unstructured{Object: object}).SetAnnotations(map[string]string{"example.com/after": time.Now().String()})
			}
		})
		defer s.proxy.Mutate(nil)
		s.take(steps...)
	}
}

// removed removes what the program has made, or what has its names.
func removed(s *stage) {
	for _, path := range s.made() {
		s.api.Remove(path)
	}
}

// taken creates the object a when its names are taken, by what must stay as it is: P5. labelled is as
// what the program makes, which its informer may select by.
func taken(labelled bool) step {
	return func(s *stage) {
		theirs := map[string]string{}
		for i, path := range s.judge.kind.made {
			path = strings.Replace(path, "/NAMESPACE/", "/"+s.namespace+"/", 1)
			stranger := &unstructured.Unstructured{Object: object{"data": object{"theirs": "theirs"}}}
			if labelled {
				stranger.SetLabels(s.judge.kind.labels[i])
			}
			s.api.Add(path, stranger)
			theirs[path] = s.api.Get(path).GetResourceVersion()
		}
		// Who does not see it tries again, more and more seldom, and is refused: no silence is asked for.
		s.take(added, few(40, wait(10*time.Minute)))
		for path, version := range theirs {
			if now := s.api.Get(path); now == nil || now.GetResourceVersion() != version {
				s.find(found(P5, foreign, time.Now(), "The program has written or deleted %s, which has no controller.", testkit.TargetOf(path)))
			}
		}
	}
}

// forgotten makes the object a and what was made for it vanish.
func forgotten(s *stage) {
	s.api.Remove(s.path())
	s.take(atRest, removed)
}

// collected fails if the garbage collector, which has had a minute, leaves what was made for an object
// that is gone: P4.
func collected(s *stage) {
	atRest(s)
	for _, path := range s.made() {
		owners := []string{}
		for _, owner := range s.api.Get(path).GetOwnerReferences() {
			owners = append(owners, owner.APIVersion+" "+owner.Kind+" "+owner.Name)
		}
		s.find(found(P4, uncontrolled, time.Now(), "The object was deleted, and %s is left. Its owners: %q", testkit.TargetOf(path), owners))
	}
}

// deleted deletes the object a. A finalizer, if there is one, holds it.
func deleted(finalizer string) step {
	return func(s *stage) {
		if finalizer != "" {
			s.api.Edit(s.path(), func(object *unstructured.Unstructured) { object.SetFinalizers([]string{finalizer}) })
		}
		s.api.Delete(s.path(), metav1.DeletePropagationBackground)
	}
}

// goneForGood does what the garbage collector does, and then nothing may be made again: P4.
func goneForGood(s *stage) {
	s.take(atRest, removed, wait(10*time.Minute))
	if made := s.made(); len(made) > 0 {
		s.find(found(P4, forTheDying, time.Now(), "The object was deleted, then what was made for it, and the program has made %s again.", testkit.TargetOf(made[0])))
	}
}

// users are the resources of the user's objects.
func (s *stage) users() []string {
	switch j := s.judge; {
	case j.told != nil:
		return names(slices.Collect(maps.Keys(j.told.users)))
	case j.kind != nil:
		return []string{j.kind.Plural}
	default:
		return []string{"foos"}
	}
}

// ours are the resources of which the program makes none.
func (s *stage) ours() []string { return append(s.users(), "namespaces", "events", "leases") }

// resources are those of the objects that the program makes, and its kind.
func (s *stage) resources() (all []string) {
	switch {
	case s.judge.told != nil:
		return names(s.judge.told.resources())
	case s.judge.kind == nil:
		return []string{"foos", "deployments"}
	}
	for _, path := range s.judge.kind.made {
		all = append(all, testkit.TargetOf(path).Resource)
	}
	return append(all, s.judge.kind.Plural)
}

func compacted(s *stage) { s.api.Compact() }

// heldMade is held, for what the program makes.
func heldMade(d time.Duration, steps ...step) step {
	return func(s *stage) { held(d, s.resources()[0], steps...)(s) }
}
