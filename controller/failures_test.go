package controller_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/controller"
)

var errBroken = errors.New("broken")

// tries is what Try does with one write.
type tries struct {
	*testing.T
	failures *controller.Failures
}

// object is one of this generation.
func object(generation int64) metav1.Object {
	return &metav1.ObjectMeta{UID: "1", Generation: generation}
}

// after waits, tries the write, and fails the test unless it was sent or not.
func (f *tries) after(wait time.Duration, write string, generation int64, err error, sent bool) controller.Failure {
	f.Helper()
	time.Sleep(wait)
	got := false
	failure := f.failures.Try(object(generation), controller.Write{Name: write}, func() error { got = true; return err })
	if got != sent || failure.Sent != sent {
		f.Errorf("%s for %d after %s: sent %t, Sent %t, want %t; %+v", write, generation, wait, got, failure.Sent, sent, failure)
	}
	return failure
}

func tryWrites(t *testing.T, test func(f *tries)) {
	synctest.Test(t, func(t *testing.T) { test(&tries{t, controller.NewFailures()}) })
}

// A write that fails waits for its back-off; another write, and one for another generation, do not.
func TestFailedWriteWaits(t *testing.T) {
	tryWrites(t, func(f *tries) {
		f.after(0, "create", 1, errBroken, true)
		if got := f.after(0, "create", 1, errBroken, false); !errors.Is(got.Err, errBroken) || got.Wait <= 0 || got.Wait > 40*time.Millisecond {
			t.Errorf("while it waits: %+v, want the error and the rest of 40ms", got)
		}
		f.after(0, "delete", 1, nil, true)
		f.after(0, "create", 2, errBroken, true)
	})
}

// The back-off doubles up to 30 s, and begins anew after a success.
func TestBackOffDoubles(t *testing.T) {
	tryWrites(t, func(f *tries) {
		count := func(d time.Duration) (sent int) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
				f.failures.Try(object(1), controller.Write{Name: "create"}, func() error { sent++; return errBroken })
			}
			return sent
		}
		if first, later := count(15*time.Second), count(5*time.Minute); first > 15 || later < 9 || later > 20 {
			t.Errorf("%d attempts in 15 s, then %d in 5 minutes; want at most 15, then some 10 to 20", first, later)
		}
		f.after(30*time.Second, "create", 1, nil, true)
		f.after(0, "create", 1, errBroken, true)
		f.after(0, "create", 1, errBroken, false)
		f.after(80*time.Millisecond, "create", 1, errBroken, true)
	})
}

// A failure lasts from 10 s on, also over another generation, and at once if the try took 5 s. A success
// ends it.
func TestFailureLasts(t *testing.T) {
	tryWrites(t, func(f *tries) {
		for _, step := range []struct {
			after time.Duration
			err   error
			want  bool
		}{{0, errBroken, false}, {9 * time.Second, errBroken, false}, {time.Second, errBroken, true}, {30 * time.Second, nil, false}, {time.Second, errBroken, false}} {
			if got := f.after(step.after, "create", 1, step.err, true); got.Lasts != step.want {
				t.Errorf("after %s more: it lasts %t, want %t", step.after, got.Lasts, step.want)
			}
		}
		if got := f.after(10*time.Second, "create", 2, errBroken, true); !got.Lasts {
			t.Error("another generation ends it")
		}
		for _, generation := range []int64{2, 3} {
			if got := f.after(10*time.Second, "create", generation, controller.ErrCacheBehind, true); !got.Lasts {
				t.Errorf("one look that shows an old cache ends it, for generation %d", generation)
			}
		}
		hangs := func() error { time.Sleep(5 * time.Second); return errBroken }
		if got := f.failures.Try(object(1), controller.Write{Name: "delete"}, hangs); !got.Lasts {
			t.Error("a try that took 5 s does not last")
		}
	})
}

// What has succeeded for another purpose was not undone. What has failed waits, whatever for.
func TestPurpose(t *testing.T) {
	tryWrites(t, func(f *tries) {
		sent := 0
		for i := range 100 {
			f.failures.Try(object(1), controller.Write{Name: "status", Purpose: fmt.Sprint(i)}, func() error { sent++; return nil })
		}
		if sent != 100 {
			t.Errorf("%d of 100 purposes sent", sent)
		}
		for i := range 100 {
			f.failures.Try(object(1), controller.Write{Name: "status", Purpose: fmt.Sprint(i)}, func() error { sent++; return errBroken })
		}
		if sent > 103 {
			t.Errorf("%d sent while it fails", sent-100)
		}
	})
}

// What is undone is written again at once the first time, and then waits as if it were refused.
// That is forgotten when it has stood for a minute, and a failure between two successes does not
// make it begin anew.
func TestUndoneWriteWaits(t *testing.T) {
	tryWrites(t, func(f *tries) {
		f.after(0, "update", 1, nil, true)
		f.after(0, "update", 1, nil, true)
		if got := f.after(0, "update", 1, nil, false); got.Err == nil || got.Lasts {
			t.Errorf("undone for the second time: %+v, want a failure that does not last yet", got)
		}
		sent, n := 2, 0
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			f.failures.Try(object(1), controller.Write{Name: "update"}, func() error {
				sent++
				if n++; n%2 == 0 {
					return errBroken
				}
				return nil
			})
		}
		if sent > 15 {
			t.Errorf("%d attempts in 15 s", sent)
		}
		f.after(30*time.Second, "update", 1, nil, true)
		if got := f.after(0, "update", 1, nil, false); !got.Lasts {
			t.Error("undone for 45 s, and it does not last")
		}
		f.after(30*time.Second, "update", 1, nil, true)
		f.after(time.Minute+1, "update", 1, nil, true)
		f.after(0, "update", 1, nil, true)
	})
}

// What was undone is told for a minute after its last write, however long that took.
func TestUndoneIsToldForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures, w := controller.NewFailures(), controller.Write{Name: "update"}
		for range 8 {
			failures.Try(object(1), w, func() error { time.Sleep(5 * time.Second); return nil })
			time.Sleep(10 * time.Second)
		}
		if failures.Try(object(1), w, nil).Err == nil {
			t.Error("not told after ten seconds")
		}
		time.Sleep(time.Minute)
		if got := failures.Try(object(1), w, nil).Err; got != nil {
			t.Errorf("after a minute: %v, want nothing", got)
		}
		// It has stood, and is not undone for the ninth time.
		if got := failures.Try(object(1), w, func() error { return nil }).Err; got != nil {
			t.Errorf("written again: %v, want nothing", got)
		}
	})
}

// In a namespace that is being deleted a write waits as long as that has lasted, whatever failed before,
// a minute at least and an hour at most: a namespace may be made anew.
func TestTerminatingWaits(t *testing.T) {
	terminating := apierrors.NewForbidden(corev1.Resource("configmaps"), "one", errBroken)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tryWrites(t, func(f *tries) {
		f.after(0, "create", 1, errBroken, true)
		f.after(time.Second, "create", 1, terminating, true)
		f.after(59*time.Second, "create", 1, nil, false)
		f.after(time.Second, "create", 1, terminating, true)
		for _, wait := range []time.Duration{61, 122, 244, 488, 976, 1952, 3600, 3600} {
			f.after((wait-1)*time.Second, "create", 1, nil, false)
			f.after(time.Second, "create", 1, terminating, true)
		}
	})
}

// Objects that are made and deleted without end take no more memory than so many.
func TestOldestAreForgotten(t *testing.T) {
	failures := controller.NewFailures()
	first := &metav1.ObjectMeta{UID: "0"}
	for i := range 50_001 {
		object := &metav1.ObjectMeta{UID: types.UID(fmt.Sprint(i))}
		failures.Try(object, controller.Write{Name: "create"}, func() error { return errBroken })
		failures.Told(object, "a cause", "a message")
	}
	if _, isNew := failures.Told(first, "a cause", "a message"); !isNew || failures.Failed(first) {
		t.Error("the oldest is remembered")
	}
}

// A cause is told once, until nobody has met it for 15 minutes.
func TestTold(t *testing.T) {
	tryWrites(t, func(f *tries) {
		for i, wait := range []time.Duration{0, 4*time.Minute + 59*time.Second, 14 * time.Minute, 15*time.Minute + 1} {
			time.Sleep(wait)
			if _, isNew := f.failures.Told(object(1), "a cause", "a message"); isNew != (i == 0 || i == 3) {
				t.Errorf("%d: %s after the time before it is new: %t", i, wait, isNew)
			}
		}
	})
}

// What is gone counts for nothing after a while. What is not wanted for a moment is not new after it, and
// does not last.
func TestForgotten(t *testing.T) {
	tryWrites(t, func(f *tries) {
		f.after(0, "create", 1, errBroken, true)
		f.after(30*time.Minute, "create", 1, errBroken, true)
		time.Sleep(59 * time.Minute)
		if !f.failures.Failed(object(1)) {
			t.Error("forgotten after 59 minutes")
		}
		time.Sleep(time.Minute + 1)
		if f.failures.Failed(object(1)) {
			t.Error("remembered after an hour")
		}
		f.after(0, "create", 1, errBroken, true)
		time.Sleep(15 * time.Second)
		if got := f.failures.Try(object(1), controller.Write{Name: "create"}, nil); got.Err != nil {
			t.Errorf("%v of what is not wanted", got.Err)
		}
		if got := f.after(0, "create", 1, errBroken, true); got.Lasts {
			t.Error("it lasts, and was not wanted just now")
		}
		f.failures.Try(object(1), controller.Write{Name: "create"}, nil)
		f.after(0, "create", 1, errBroken, false)
		f.failures.Try(object(1), controller.Write{Name: "create"}, nil)
		time.Sleep(time.Minute + 1)
		f.after(0, "create", 1, errBroken, true)
		f.after(40*time.Millisecond, "create", 1, errBroken, true)
	})
}
