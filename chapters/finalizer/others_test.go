package main

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A finalizer is added behind those of others and removed from among them, wherever it is.
func TestFinalizersOfOthers(t *testing.T) {
	w := newWorld(t)
	p := w.create("p", 1, "a.example.com/x")
	w.sync()
	w.must("p")
	w.sent(adds(p, `["a.example.com/x","examples-gzh.com/volumes"]`))

	for _, before := range [][]string{
		{finalizer},
		{finalizer, "a.example.com/x"},
		{"a.example.com/x", finalizer},
		{"a.example.com/x", "b.example.com/x", finalizer, "c.example.com/x"},
	} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			w := newWorld(t)
			p := w.create("p", 2)
			w.settle("p")
			w.change("p", finalized(before...))
			w.delete("p")
			w.sync()
			w.requests = nil
			w.must("p")
			w.sent(removes(p, slices.Index(before, finalizer)))
			w.isEmpty()

			others := slices.DeleteFunc(slices.Clone(before), func(f string) bool { return f == finalizer })
			project := w.project("p")
			if len(others) == 0 && project != nil || len(others) > 0 && (project == nil || !slices.Equal(project.Finalizers, others)) {
				t.Errorf("the Project is %v, want the finalizers %v", project, others)
			}
			// Its turn is over.
			w.sync()
			w.must("p")
			w.sent()
		})
	}
}

// Another program changes the finalizers between the cache and the patch: it is refused, no
// finalizer is lost, and it is made again from what the cache shows then.
func TestConflict(t *testing.T) {
	for _, test := range []struct {
		reason           string
		isDeleted        bool
		first, meanwhile []string
		added            string // by the patch that is made again
		place            int    // from which it removes ours
		want             []string
	}{
		{"added behind one that comes", false, nil, []string{"a.example.com/x"}, `["a.example.com/x","examples-gzh.com/volumes"]`, 0, []string{"a.example.com/x", finalizer}},
		{"added where one goes", false, []string{"a.example.com/x"}, nil, `["examples-gzh.com/volumes"]`, 0, []string{finalizer}},
		{"removed where one before it goes", true, []string{"a.example.com/x", finalizer, "b.example.com/x"}, []string{finalizer, "b.example.com/x"}, "", 0, []string{"b.example.com/x"}},
		{"removed where one comes before it", true, []string{finalizer, "a.example.com/x"}, []string{"a.example.com/x", finalizer}, "", 1, []string{"a.example.com/x"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.create("p", 1, test.first...)
			if test.isDeleted {
				w.delete("p")
			}
			w.sync()
			w.change("p", finalized(test.meanwhile...))
			if _, _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			if got := w.project("p").Finalizers; !slices.Equal(got, test.meanwhile) {
				t.Errorf("finalizers %v, want %v", got, test.meanwhile)
			}
			w.isEmpty()
			w.told()

			// Not before the cache shows it.
			w.requests = nil
			w.must("p")
			w.sent()
			w.sync()
			then := adds(w.project("p"), test.added)
			if test.isDeleted {
				then = removes(w.project("p"), test.place)
			}
			w.must("p")
			w.sent(then)
			if got := w.project("p").Finalizers; !slices.Equal(got, test.want) {
				t.Errorf("finalizers %v, want %v", got, test.want)
			}
		})
	}
}

// A Project is being deleted, and the cache does not show it: it gets no finalizer, which
// the API server would refuse, and no volumes.
func TestDeletedUnseen(t *testing.T) {
	w := newWorld(t)
	w.create("p", 1, "a.example.com/x")
	w.sync()
	w.delete("p")
	if _, _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	w.settle("p")
	w.isEmpty()
	if got := w.project("p").Finalizers; !slices.Equal(got, []string{"a.example.com/x"}) {
		t.Errorf("finalizers %v, want only that of another", got)
	}
}

// The name is given to another Project while the cache shows the first one. Volumes are
// those of a UID, and the second one keeps its finalizer.
func TestSameNameAnew(t *testing.T) {
	w := newWorld(t)
	first := w.create("p", 2)
	w.settle("p")
	w.delete("p")
	w.sync()
	w.change("p", finalized())
	second := w.create("p", 3, finalizer)
	if _, _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	w.has(first.UID)
	w.settle("p")
	w.has(second.UID, 0, 1, 2)
	if got := w.project("p").Finalizers; !slices.Equal(got, []string{finalizer}) {
		t.Errorf("finalizers %v, want ours", got)
	}
}

// A person removes the finalizer from a Project that stays: it comes back.
func TestFinalizerComesBack(t *testing.T) {
	w := newWorld(t)
	p := w.create("p", 2)
	w.settle("p")
	w.change("p", finalized())
	w.settle("p")
	w.has(p.UID, 0, 1)
	if got := w.project("p").Finalizers; !slices.Equal(got, []string{finalizer}) {
		t.Errorf("finalizers %v, want ours", got)
	}
}
