package testkit_test

import (
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"example.com/byhand/internal/tests/quiet"
)

// A failed test prints the log, a passed test prints nothing.
func TestQuiet(t *testing.T) {
	for _, failed := range []bool{false, true} {
		f := playTest(t, func(f *fakeT) {
			klog.FromContext(quiet.Context(f)).Info("Retrying", "key", "default/foo")
			f.failed = failed
		})
		if got := strings.Contains(f.printed, `"Retrying" key="default/foo"`); got != failed {
			t.Errorf("failed: %t, printed: %q", failed, f.printed)
		}
	}
}
