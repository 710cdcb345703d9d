package main

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/byhand/api/examples-gzh.com/v1alpha1"
)

// A finalizer is added behind those of others and removed from among them, wherever it is.
func TestFinalizersOfOthers(t *testing.T) {
	w := newWorld(t)
	w.create("p", 1, "a.example.com/x")
	w.sync()
	w.must("p")
	w.sent(adds(1, `["a.example.com/x","examples-gzh.com/volumes"]`))

	for _, before := range [][]string{
		{finalizer},
		{finalizer, "a.example.com/x"},
		{"a.example.com/x", finalizer},
		{"a.example.com/x", "b.example.com/x", finalizer, "c.example.com/x"},
	} {
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			w := newWorld(t)
			w.create("p", 2)
			w.settle("p")
			w.change("p", func(project *v1alpha1.Project) { project.Finalizers = before })
			w.change("p", deleted)
			w.sync()
			w.server.ClearActions()
			w.must("p")
			w.sent(removes(1, slices.Index(before, finalizer)))
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

// Somebody changes the finalizers between the cache and the patch: it is refused, nobody's
// finalizer is lost, and it is made again from what the cache shows then.
func TestConflict(t *testing.T) {
	for _, test := range []struct {
		reason           string
		isDeleted        bool
		first, meanwhile []string
		then             string // the patch that is made again
		want             []string
	}{
		{"added behind one that comes", false, nil, []string{"a.example.com/x"}, adds(2, `["a.example.com/x","examples-gzh.com/volumes"]`), []string{"a.example.com/x", finalizer}},
		{"added where one goes", false, []string{"a.example.com/x"}, nil, adds(2, `["examples-gzh.com/volumes"]`), []string{finalizer}},
		{"removed where one before it goes", true, []string{"a.example.com/x", finalizer, "b.example.com/x"}, []string{finalizer, "b.example.com/x"}, removes(1, 0), []string{"b.example.com/x"}},
		{"removed where one comes before it", true, []string{finalizer}, []string{"a.example.com/x", finalizer}, removes(1, 1), []string{"a.example.com/x"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t)
			w.create("p", 1, test.first...)
			if test.isDeleted {
				w.change("p", deleted)
			}
			w.sync()
			w.change("p", func(project *v1alpha1.Project) { project.Finalizers = test.meanwhile })
			if _, _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
				t.Errorf("error %v, want a Conflict", err)
			}
			if got := w.project("p").Finalizers; !slices.Equal(got, test.meanwhile) {
				t.Errorf("finalizers %v, want %v", got, test.meanwhile)
			}
			w.isEmpty()
			w.told()

			// Not before the cache shows it.
			w.server.ClearActions()
			w.must("p")
			w.sent()
			w.sync()
			w.must("p")
			w.sent(test.then)
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
	w.change("p", deleted)
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
	w.create("p", 2)
	w.settle("p")
	w.change("p", deleted)
	w.sync()
	w.change("p", forced)
	w.create("p", 3, finalizer)
	if _, _, err := w.reconcile("p"); !apierrors.IsConflict(err) {
		t.Errorf("error %v, want a Conflict", err)
	}
	w.has(uid(1))
	w.settle("p")
	w.has(uid(2), 0, 1, 2)
	if got := w.project("p").Finalizers; !slices.Equal(got, []string{finalizer}) {
		t.Errorf("finalizers %v, want ours", got)
	}
}

// Somebody removes the finalizer from a Project that stays: it comes back.
func TestFinalizerComesBack(t *testing.T) {
	w := newWorld(t)
	w.create("p", 2)
	w.settle("p")
	w.change("p", forced)
	w.settle("p")
	w.has(uid(1), 0, 1)
	if got := w.project("p").Finalizers; !slices.Equal(got, []string{finalizer}) {
		t.Errorf("finalizers %v, want ours", got)
	}
}
