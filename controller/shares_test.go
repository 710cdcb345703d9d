package controller_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/controller"
)

// With 8 workers: what was slow the last time may have four of them, also if it has succeeded, and for
// a new generation; five where the last write was quick. All else of a namespace in which a write was
// slow within a minute may have two more, and so may what has failed twice in a row. Namespaces share
// this. What is well, in a namespace where all is quick, is not limited.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures, generation := controller.NewFailures(8), int64(1)
		var sent atomic.Int32
		// sends lets so many objects of a namespace try a write that takes this time. Without rest, it
		// returns while they run.
		sends := func(what, namespace string, first, n int, d time.Duration, err error, want int, rest time.Duration) {
			t.Helper()
			for i := range n {
				object := &metav1.ObjectMeta{Namespace: namespace, UID: types.UID(fmt.Sprint(namespace, first+i)), Generation: generation}
				go func() {
					got := failures.Try(object, controller.Write{Name: "write"}, func() error { sent.Add(1); time.Sleep(d); return err })
					if !got.Sent && (got.Wait <= 0 || got.Err == nil || got.Lasts && !errors.Is(got.Err, errBroken)) {
						t.Errorf("%s: what waits for its turn returns %+v, want an error, that lasts only if it is of its own, and to wait", what, got)
					}
				}()
			}
			synctest.Wait()
			if got := sent.Swap(0); int(got) != want {
				t.Errorf("%s: %d of %d are sent, want %d", what, got, n, want)
			}
			time.Sleep(rest)
		}
		sends("the first time", "sick", 0, 8, 10*time.Second, nil, 8, 40*time.Second)
		generation++
		sends("what was slow", "sick", 0, 8, 10*time.Second, nil, 4, 0)
		sends("beside it, in a namespace with slow writes", "sick", 100, 8, 10*time.Millisecond, nil, 2, 0)
		sends("beside it, elsewhere", "well", 0, 8, 0, errBroken, 8, 40*time.Second)
		generation++
		sends("a quick one", "sick", 200, 1, 0, nil, 1, 0)
		sends("what was slow, after it", "sick", 0, 8, 10*time.Second, nil, 5, 0)
		sends("what has failed twice", "well", 0, 8, 0, errBroken, 8, 40*time.Second)
		sends("what has failed three times", "well", 0, 8, 0, errBroken, 8, 40*time.Second)
		sends("what has failed, and hangs now", "well", 0, 8, 10*time.Second, errBroken, 6, 2*time.Minute)

		// Two namespaces have slow writes. Each has half of what there is for them.
		sends("the first time", "b", 0, 8, 10*time.Second, nil, 8, 11*time.Second)
		sends("the first time", "a", 0, 8, 10*time.Second, nil, 8, 11*time.Second)
		generation++
		sends("alone", "a", 0, 8, 10*time.Second, nil, 4, 0)
		sends("all is taken", "b", 0, 8, 0, nil, 0, 9500*time.Millisecond)
		sends("it still is", "b", 0, 8, 0, nil, 0, time.Second)
		sends("one of two", "a", 0, 8, 10*time.Second, nil, 2, 0)
		sends("the other", "b", 0, 8, 10*time.Second, nil, 2, 20*time.Second)
	})
}
