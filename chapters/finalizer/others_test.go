package main

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Another client changes the Project between the cache and the patch: it is refused, no
// finalizer is lost, and it is made again from what the cache shows then: behind those of others, or
// from among them, wherever it is.
func TestConflict(t *testing.T) {
	set := func(finalizers ...string) func(*world) {
		return func(w *world) { w.change("p", finalized(finalizers...)) }
	}
	for _, test := range []struct {
		reason    string
		isDeleted bool
		first     []string
		meanwhile func(w *world)
		added     string // by the patch that is made again
		place     int    // from which it removes ours, -1 for nowhere
		want      []string
	}{
		{"added behind one that comes", false, nil, set("a.example.com/x"), `["a.example.com/x","examples-gzh.com/volumes"]`, -1, []string{"a.example.com/x", finalizer}},
		{"added where one goes", false, []string{"a.example.com/x"}, set(), `["examples-gzh.com/volumes"]`, -1, []string{finalizer}},
		{"removed where one before it goes", true, []string{"a.example.com/x", finalizer, "b.example.com/x"}, set(finalizer, "b.example.com/x"), "", 0, []string{"b.example.com/x"}},
		{"removed where one comes before it", true, []string{finalizer, "a.example.com/x"}, set("a.example.com/x", finalizer), "", 1, []string{"a.example.com/x"}},
		// The API server would take no new finalizer.
		{"not added to one that is deleted", false, []string{"a.example.com/x"}, func(w *world) { w.delete("p") }, "", -1, []string{"a.example.com/x"}},
		// Volumes are those of a UID: those of the first one go.
		{"not removed from another of this name", true, []string{finalizer}, func(w *world) {
			w.createVolumes(w.project("p").UID)
			w.change("p", finalized())
			w.create("p", 1, finalizer)
		}, "", -1, []string{finalizer}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.create("p", 1, test.first...)
			if test.isDeleted {
				w.delete("p")
			}
			w.sync()
			test.meanwhile(w)
			before := w.project("p").Finalizers
			if _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			if got := w.project("p").Finalizers; !slices.Equal(got, before) {
				t.Errorf("finalizers %v, want %v", got, before)
			}
			w.isEmpty()
			w.told()

			// Not before the cache shows it.
			w.requests = nil
			w.must("p")
			w.sent()
			p := w.project("p")
			switch {
			case test.added != "":
				w.step("p", adds(p, test.added))
			case test.place >= 0:
				w.step("p", removes(p, test.place))
			default:
				w.step("p")
			}
			w.waitsFor(test.want...)
			if p.DeletionTimestamp == nil {
				w.has(p.UID, 0)
			}
		})
	}
}
