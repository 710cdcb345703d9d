package controller_test

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/controller"
)

// The fourth identical write is an error until no such write comes for a minute, or the spec changes.
func TestRewrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rewrites := controller.NewRewrites()
		for i, step := range []struct {
			after      time.Duration
			generation int64
			content    string
			undone     bool
		}{
			{0, 1, "a", false}, {59 * time.Second, 1, "a", false}, {59 * time.Second, 1, "a", false}, {59 * time.Second, 1, "a", true}, {59 * time.Second, 1, "a", true},
			{0, 1, "b", false}, {0, 1, "a", false}, {0, 1, "b", false}, {0, 1, "a", false}, // The content changes.
			{0, 2, "a", false}, {0, 2, "a", false}, {0, 2, "a", false}, {0, 2, "a", true}, {61 * time.Second, 2, "a", false},
		} {
			time.Sleep(step.after)
			object := &metav1.ObjectMeta{UID: "1", Generation: step.generation}
			rewrites.Record(object, "Deployment", step.content)
			if err := rewrites.Err(object, "Deployment"); (err != nil) != step.undone {
				t.Errorf("step %d: %v, want an error: %t", i, err, step.undone)
			}
			if err := rewrites.Err(object, "status"); err != nil {
				t.Errorf("step %d: %v for other content", i, err)
			}
		}
		if err := rewrites.Err(&metav1.ObjectMeta{UID: "1", Generation: 3}, "Deployment"); err != nil {
			t.Errorf("%v for a new spec", err)
		}
	})
}
