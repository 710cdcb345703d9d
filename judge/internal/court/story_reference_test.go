//go:build long

package court

import (
	"path/filepath"
	"testing"
	"time"

	"example.com/byhand/internal/testkit/plane"
	"example.com/byhand/judge/reference/bugs"
)

// byStory is in which scenario of a story each bug of the reference is found. The others need one that no story has, or
// an eye that knows Foos.
var byStory = map[*bugs.Bug]string{
	bugs.NoGuard: "name-taken", bugs.AdoptsByName: "name-taken", bugs.TellsAnothers: "name-taken", bugs.DeafToNames: "name-taken",
	bugs.NoOwner: faultFree, bugs.DeletesFirst: faultFree, bugs.PollWrites: faultFree,
	bugs.NoRename: "fresh-rename", bugs.RemembersNames: "down", bugs.IgnoresDeletion: "dying",
	bugs.IgnoresImage: "drift", bugs.IgnoresReplicas: "drift", bugs.DeafToDeletion: "deleted", bugs.GeneratesNames: "answer-lost",
	bugs.NoRetry: "refused-403", bugs.NoBackoff: "refused-403", bugs.InvalidIsFinal: "refused-422", bugs.ExitsOn5xx: "refused-500", bugs.MakesRoom: "refused-create",
	bugs.NoRelist: "events-missed", bugs.TrustsCache: "stale-start", bugs.StatusEveryTime: "restart",
	bugs.Insists: "set-back", bugs.Fights: "set-back",
}

// The judge of stories is judged, too: these bugs are found, on one control plane. One for each scenario, and all of
// them with -everything.
func TestStoryOfReference(t *testing.T) {
	reference := filepath.Join(t.TempDir(), "reference")
	if _, err := plane.Go(t.Context(), "build", "-o", reference, "example.com/byhand/judge/reference"); err != nil {
		t.Fatal(err)
	}
	worlds := worlds{}
	dir := t.TempDir()
	t.Cleanup(func() {
		if err := down(worlds); err != nil {
			t.Error(err)
		}
	})
	if err := (&judge{dir: dir}).up(t.Context(), worlds, []scenario{{}}); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	played := map[string]bool{}
	for _, bug := range bugs.All {
		name := byStory[bug]
		if name == "" || played[name] && !*everything {
			continue
		}
		played[name] = true
		n += 1000
		shared := worlds[false]
		w := &world{plane: shared.plane, kube: shared.kube, dynamic: shared.dynamic, canary: shared.canary}
		w.stages.Store(n) // The namespaces are others.
		t.Run(bug.Name, func(t *testing.T) {
			t.Parallel()
			told, err := readStory("../../story/foos.yaml")
			if err != nil {
				t.Fatal(err)
			}
			w.meet(&judge{dir: dir, bound: 15 * time.Second, told: told, command: command{args: []string{reference, "-" + bug.Name, "-kubeconfig", "{kubeconfig}"}, dir: dir}})
			if err := told.meet(w.kube.Discovery()); err != nil {
				t.Fatal(err)
			}
			r, err := w.learn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, sc := range told.scenarios() {
				if sc.name == name {
					if r, err = w.result(t.Context(), &sc); err != nil {
						t.Fatal(err)
					}
				}
			}
			if r.Scenario != name || !r.short() {
				t.Errorf("%s does not catch it: %+v", name, r)
			}
		})
	}
}
