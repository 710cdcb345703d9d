package anykind

import (
	"cmp"
	"errors"
	"fmt"
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

	"example.com/byhand/kit/crd"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/internal/court/scenario"
	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// ReadKind reads the CRD and the sample in a program's folder config, as created by make new. It returns nil
// without a CRD.
func ReadKind(dir string) (*stage.Kind, error) {
	definition, err := os.ReadFile(filepath.Join(dir, "config", "crd.yaml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	k := &stage.Kind{Sample: &unstructured.Unstructured{}}
	sample, sampleErr := os.ReadFile(filepath.Join(dir, "config", "sample.yaml"))
	if err := cmp.Or(err, sampleErr); err != nil {
		return nil, err
	}
	if k.Resource, err = crd.Resource(definition); err != nil {
		return nil, err
	}
	return k, yaml.Unmarshal(sample, &k.Sample.Object)
}

// Words returns a replacer of Foos' words by the kind's. It replaces nothing if k is nil.
func Words(k *stage.Kind) *strings.Replacer {
	if k == nil {
		return strings.NewReplacer()
	}
	return strings.NewReplacer("Foo", k.Kind, "then scaled and renamed", "then changed", "scaled and renamed", "changed", "the image in", "a value of",
		"a Deployment", "an owned object", "The Deployment", "The owned object", "Deployment", "owned object")
}

// InItsWords describes the violations in the kind's words. The solution still names byhand's Foos; a real bug
// is unchanged.
func InItsWords(k *stage.Kind, r *verdict.Result) {
	words := Words(k)
	for i := range r.Violations {
		v := &r.Violations[i]
		v.Seen, v.Why, v.Right = words.Replace(v.Seen), words.Replace(v.Why), "as byhand does with Foos and their Deployments: "+v.Right
	}
}

// KindScenarios returns the scenarios that the in-memory API server can play. If k is nil, these are the
// chosen ones for Foos. Otherwise these are the chosen ones that fit any kind, in its words, and create,
// which learns the right results.
func KindScenarios(k *stage.Kind, chosen []stage.Scenario) (playable []stage.Scenario) {
	if k == nil {
		return slices.DeleteFunc(slices.Clone(chosen), func(sc stage.Scenario) bool { return sc.Real })
	}
	words, steps := Words(k), ofAnyKind()
	for _, sc := range scenario.All {
		if sc.Name != "create" && !slices.ContainsFunc(chosen, func(c stage.Scenario) bool { return c.Name == sc.Name }) {
			continue
		}
		if steps := steps[sc.Name]; steps != nil || sc.PerWrite != testkit.Pass {
			sc.What, sc.Steps, sc.Judged, sc.Unplayed = words.Replace(sc.What), steps, sc.Judged&^(P3|P4|P5|P8), true
			switch { // Only these scenarios check P4 and P5.
			case strings.HasPrefix(sc.Name, "deleted-"):
				sc.Judged |= P4
			case strings.HasPrefix(sc.Name, "name-"):
				sc.Judged |= P5
			}
			playable = append(playable, sc)
		}
	}
	return playable
}

// ofAnyKind returns the steps of scenarios for a kind other than Foo.
func ofAnyKind() map[string][]stage.Step {
	return map[string][]stage.Step{
		"create":             {Added, atRest, learnBegun, ChangedByUser, atRest, learnChanged},
		scenario.FaultFree:   {Added, Kept(P1, verdict.Absent, true), ChangedByUser, Kept(P1, verdict.Absent, false)},
		"restart":            {Added, atRest, silently(scenario.WhileDown(), atRest)},
		"idle":               {Added, atRest, silently(scenario.Wait(65 * time.Minute))},
		"image-changed":      {Added, atRest, driftedByHand, Kept(P1, verdict.Drifted, true)},
		"deployment-deleted": {Added, atRest, removed, Kept(P1, verdict.Absent, true)},
		"name-taken":         {taken(false), forgotten, taken(true)},
		"name-freed":         {taken(false), removed, Kept(P1, verdict.Absent, true)},
		"deleted-background": {Added, atRest, deleted(""), collected, goneForGood},
		"deleted-foreground": {Added, atRest, deleted("example.com/held"), goneForGood},
		"events-missed":      {Added, atRest, scenario.Disturbed(8*time.Second, scenario.Unreadable, scenario.Cut, ChangedByUser, removed, compacted), Kept(P1, verdict.Absent, false)},
		"own-writes-unseen":  {Added, atRest, heldMade(8*time.Second, ChangedByUser), Kept(P1, verdict.Absent, false)},
		"silent-network":     {Added, atRest, scenario.Disturbed(15*time.Second, scenario.Hanging(15*time.Second), ChangedByUser), Kept(P6, verdict.Different, false)},
		"conflicts":          {Added, scenario.Contended(10*time.Second, scenario.Wait(2*time.Second), ChangedByUser), Kept(P6, verdict.Different, false)},
		"overloaded":         {Added, atRest, scenario.Few(100, scenario.Disturbed(10*time.Second, scenario.Overloaded, scenario.Cut, ChangedByUser)), Kept(P6, verdict.Different, false)},
		"rights-taken":       {Added, atRest, scenario.Few(40, scenario.Disturbed(15*time.Second, scenario.Refusing(http.StatusForbidden), ChangedByUser)), Kept(P1, verdict.Absent, false)},
		"policy":             {Added, atRest, scenario.Few(40, scenario.Disturbed(15*time.Second, scenario.Refusing(http.StatusUnprocessableEntity), ChangedByUser)), Kept(P6, verdict.Different, false)},
		"webhook-down":       {Added, atRest, scenario.Few(40, scenario.Disturbed(15*time.Second, scenario.Refusing(http.StatusInternalServerError), ChangedByUser)), Kept(P1, verdict.Absent, false)},
		"webhook-changes":    {Added, atRest, driftedAlways(scenario.FewTries(false, 15, verdict.Endless, driftedByHand, scenario.Wait(time.Minute))), driftedByHand, Kept(P1, verdict.Absent, true)},
		"denied-with-ids":    {Added, atRest, scenario.Disturbed(15*time.Second, scenario.Refusing(scenario.Denied), scenario.FewTries(true, 5, verdict.Repeated, ChangedByUser, scenario.Wait(15*time.Second))), Kept(P1, verdict.Absent, false)},
		"two-at-a-time":      {scenario.Second, Added, atRest, scenario.KillFirst, ChangedByUser, Kept(P6, verdict.Different, false)},
	}
}

func path(s *stage.Stage) string {
	k := s.Judge.Kind
	return fmt.Sprintf("/apis/%s/namespaces/%s/%s/a", k.GroupVersion(), s.Namespace, k.Plural)
}

// stored returns all stored objects as text, without values that differ between runs.
func stored(s *stage.Stage) string {
	names, text := []string{s.Namespace, "NAMESPACE"}, ""
	for _, path := range append(s.Api.Paths(s.Judge.Kind.Plural), s.Made()...) {
		object := s.Api.Get(path).DeepCopy()
		names = append(names, string(object.GetUID()), "UID-OF-"+object.GetName())
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "annotations"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		text += path + ":\n" + verdict.MustYAML(object.Object)
	}
	return script.Timeless(strings.NewReplacer(names...).Replace(text))
}

func learnBegun(s *stage.Stage) {
	k := s.Judge.Kind
	if k.Begun = stored(s); len(s.Made()) == 0 {
		s.Fail(verdict.Found(P1, verdict.Untouched, time.Now(), "The program creates no object for config/sample.yaml."))
	}
	for _, path := range s.Made() {
		k.Made, k.Labels = append(k.Made, strings.Replace(path, "/"+s.Namespace+"/", "/NAMESPACE/", 1)), append(k.Labels, s.Api.Get(path).GetLabels())
	}
}

func learnChanged(s *stage.Stage) {
	s.Judge.Kind.Changed, s.Baseline, s.Writes = stored(s), stored(s), len(s.Tries(s.Begin))
}

// Added creates the object a, like the sample.
func Added(s *stage.Stage) { s.Api.Add(path(s), s.Judge.Kind.Sample.DeepCopy()) }

// atRest waits until the program has tried no write for a minute.
func atRest(s *stage.Stage) {
	const quiet, patience = time.Minute, 20 * time.Minute
	if !s.Quiet(quiet, patience) {
		s.Fail(verdict.Found(P2, verdict.Noisy, time.Now(), "Nothing differs, but in %s the program was never silent for %s.", patience, quiet))
	}
}

// Kept waits until the stored state is as in the run without a fault, and then until the program is silent.
// begun selects the state before the user's change, or the one at the end.
func Kept(p verdict.Properties, l *verdict.Lesson, begun bool) stage.Step {
	return func(s *stage.Stage) {
		want, now, version := s.Judge.Kind.Changed, "", -1
		if begun {
			want = s.Judge.Kind.Begun
		}
		const bound = 5 * time.Minute // The program must not depend on a resync.
		s.Within(bound, func() bool {
			if changed := s.Api.Version(); changed != version {
				now, version = stored(s), changed
			}
			return now == want
		}, func() verdict.Finding {
			return verdict.Found(p, l, time.Now(), "Without the fault (-), and %s after it (+):\n%s", bound, gocmp.Diff(want, now))
		})
		atRest(s)
	}
}

// silently takes steps, and fails if the program tries a write meanwhile: P2.
func silently(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		begin := time.Now()
		s.Take(steps...)
		if writes := s.Tries(begin); len(writes) > 0 {
			s.Find(verdict.Found(P2, verdict.Noisy, time.Now(), "Nothing differed, but the program sent %d writes. The first: %s", len(writes), writes[0].String()))
		}
	}
}

// ChangedByUser changes the first value in the spec that the schema lets change.
func ChangedByUser(s *stage.Stage) {
	s.Api.Edit(path(s), func(object *unstructured.Unstructured) {
		drift(object.Object, func() bool { return len(s.Judge.Kind.Schema.Validate(object.Object, nil)) == 0 })
	})
}

func driftedByHand(s *stage.Stage) {
	for _, path := range s.Made() {
		s.Api.Edit(path, func(object *unstructured.Unstructured) { drift(object.Object, func() bool { return true }) })
	}
}

// drift changes the first value for which admitted returns true.
func drift(object map[string]any, admitted func() bool) {
	for _, leaf := range script.Leaves(object) {
		leaf.Set(leaf.Other())
		if admitted() {
			return
		}
		leaf.Set(leaf.Value)
	}
}

// driftedAlways takes steps while each write of the program is changed on its way, and gets a new annotation.
func driftedAlways(steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) {
		s.Proxy.Mutate(func(r *http.Request, object map[string]any) {
			if scenario.WritesMade(s, r) {
				drift(object, func() bool { return true })
				(&unstructured.Unstructured{Object: object}).SetAnnotations(map[string]string{"example.com/after": time.Now().String()})
			}
		})
		defer s.Proxy.Mutate(nil)
		s.Take(steps...)
	}
}

// removed removes the program's objects, or other objects with their names.
func removed(s *stage.Stage) {
	for _, path := range s.Made() {
		s.Api.Remove(path)
	}
}

// taken creates the object a while other objects have its names, which must stay unchanged: P5. If labelled,
// they have the labels of the program's objects, by which its informer may select.
func taken(labelled bool) stage.Step {
	return func(s *stage.Stage) {
		theirs := map[string]string{}
		for i, path := range s.Judge.Kind.Made {
			path = strings.Replace(path, "/NAMESPACE/", "/"+s.Namespace+"/", 1)
			stranger := &unstructured.Unstructured{Object: stage.Object{"data": stage.Object{"theirs": "theirs"}}}
			if labelled {
				stranger.SetLabels(s.Judge.Kind.Labels[i])
			}
			s.Api.Add(path, stranger)
			theirs[path] = s.Api.Get(path).GetResourceVersion()
		}
		// A program that does not see them retries with growing pauses, so no silence is required.
		s.Take(Added, scenario.Few(40, scenario.Wait(10*time.Minute)))
		for path, version := range theirs {
			if now := s.Api.Get(path); now == nil || now.GetResourceVersion() != version {
				s.Find(verdict.Found(P5, verdict.Foreign, time.Now(), "The program wrote or deleted %s, which has no controller.", testkit.TargetOf(path)))
			}
		}
	}
}

func forgotten(s *stage.Stage) {
	s.Api.Remove(path(s))
	s.Take(atRest, removed)
}

// collected fails if the garbage collector, which had a minute, leaves objects made for a deleted object: P4.
func collected(s *stage.Stage) {
	atRest(s)
	for _, path := range s.Made() {
		owners := []string{}
		for _, owner := range s.Api.Get(path).GetOwnerReferences() {
			owners = append(owners, owner.APIVersion+" "+owner.Kind+" "+owner.Name)
		}
		s.Find(verdict.Found(P4, verdict.Uncontrolled, time.Now(), "The object was deleted, but %s is left. Its owners: %q", testkit.TargetOf(path), owners))
	}
}

// deleted deletes the object a. A finalizer holds it, unless it is "".
func deleted(finalizer string) stage.Step {
	return func(s *stage.Stage) {
		if finalizer != "" {
			s.Api.Edit(path(s), func(object *unstructured.Unstructured) { object.SetFinalizers([]string{finalizer}) })
		}
		s.Api.Delete(path(s), metav1.DeletePropagationBackground)
	}
}

// goneForGood plays the garbage collector. After that the program must make no object: P4.
func goneForGood(s *stage.Stage) {
	s.Take(atRest, removed, scenario.Wait(10*time.Minute))
	if made := s.Made(); len(made) > 0 {
		s.Find(verdict.Found(P4, verdict.ForTheDying, time.Now(), "The object and its dependents were deleted, but the program recreated %s.", testkit.TargetOf(made[0])))
	}
}

func compacted(s *stage.Stage) { s.Api.Compact() }

// heldMade is scenario.Held for the first resource that the program makes.
func heldMade(d time.Duration, steps ...stage.Step) stage.Step {
	return func(s *stage.Stage) { scenario.Held(d, s.Resources()[0], steps...)(s) }
}
