package stage

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes"

	"example.com/byhand/internal/tests"
)

// A wait ends by the clock on a fast machine, and later on a slow one, whose watch is held. It ends even if
// the watch never delivers.
func TestCanary(t *testing.T) {
	for _, test := range []struct {
		reason     string
		held       time.Duration // from a second after the window began
		ends, late time.Duration
	}{
		{"a fast machine", 0, 4 * time.Second, 0},
		{"news take 2 s once", 2 * time.Second, 4*time.Second + 2*time.Second - 2*time.Second/slowest, 2 * time.Second},
		{"no news any more", time.Hour, time.Second + 3*slowest*time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			api := tests.NewAPIServer()
			c, err := fly(t.Context(), kubernetes.NewForConfigOrDie(api.Config()))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			began := time.Now()
			s := &Stage{World: &World{Canary: c}, Ctx: t.Context()}
			time.AfterFunc(time.Second, func() {
				if test.held > 0 {
					time.AfterFunc(test.held, api.HoldWatches("leases"))
				}
			})
			s.Pause(4 * time.Second)
			if took := time.Since(began); took < test.ends-4*beat || took > test.ends+4*beat {
				t.Errorf("%s: 4 s end after %s, want %s", test.reason, took, test.ends)
			}
			var slow time.Duration
			for _, b := range c.Slow(began) {
				slow += b.To.Sub(b.From)
			}
			if slow < test.late-2*beat || slow > test.late+2*beat {
				t.Errorf("%s: it was slow for %s, want %s", test.reason, slow, test.late)
			}
		})
	}
}
