package controller_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/controller"
)

// A failure lasts when all attempts of 10 s have failed. A success, or another attempt, begins
// anew. A Conflict has no back-off.
func TestFailures(t *testing.T) { synctest.Test(t, testFailures) }

func testFailures(t *testing.T) {
	failures := controller.Failures{}
	fail := func(attempt string, err error, after time.Duration) (failure controller.Failure, wait time.Duration) {
		time.Sleep(after)
		failures.Record(fooKey, attempt, err)
		return failures.Last(fooKey, attempt)
	}
	broken := errors.New("broken")
	if failure, wait := fail("a", broken, time.Minute); failure.Lasts || wait <= 0 {
		t.Errorf("after one failure: lasts %t, wait %s; want false and a back-off", failure.Lasts, wait)
	}
	if failure, _ := fail("a", broken, 9*time.Second); failure.Lasts {
		t.Error("after 9 s it lasts")
	}
	if failure, _ := fail("a", broken, time.Second); !failure.Lasts {
		t.Error("after 10 s it does not last")
	}
	if _, wait := failures.Last(fooKey, "b"); wait != 0 {
		t.Errorf("another attempt must wait %s", wait)
	}
	if failure, _ := fail("b", broken, 0); failure.Lasts {
		t.Error("another attempt lasts after its first failure")
	}
	failures.Record(fooKey, "b", nil)
	if failure, wait := failures.Last(fooKey, "b"); failure.Err != nil || wait != 0 {
		t.Errorf("after a success: %v, wait %s; want neither", failure.Err, wait)
	}
	if failure, _ := fail("b", broken, 10*time.Second); failure.Lasts {
		t.Error("the success before is not noted")
	}
	conflict := apierrors.NewConflict(v1alpha1.Resource("foos"), "foo", broken)
	if _, wait := fail("c", conflict, 0); wait != 0 {
		t.Errorf("after a Conflict: wait %s, want none", wait)
	}
}
