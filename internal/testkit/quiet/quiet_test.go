package quiet_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"example.com/byhand/internal/testkit/quiet"
)

// ended is a test whose end is near.
type ended struct {
	testing.TB
	failed  bool
	cleanup func()
	printed string
}

func (e *ended) Cleanup(f func())                  { e.cleanup = f }
func (e *ended) Failed() bool                      { return e.failed }
func (e *ended) Logf(format string, values ...any) { e.printed += fmt.Sprintf(format, values...) }

// A test that failed prints what was logged, one that passed nothing.
func TestContext(t *testing.T) {
	for _, failed := range []bool{false, true} {
		e := &ended{TB: t, failed: failed}
		klog.FromContext(quiet.Context(e)).Info("Retrying", "key", "default/foo")
		e.cleanup()
		if got := strings.Contains(e.printed, `"Retrying" key="default/foo"`); got != failed {
			t.Errorf("failed: %t, printed: %q", failed, e.printed)
		}
	}
}
