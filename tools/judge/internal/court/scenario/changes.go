package scenario

import (
	"net/http"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/tools/judge/internal/court/stage"
	"example.com/byhand/tools/judge/internal/court/verdict"
)

// CreateAndChange is the script that most faults disturb: a Foo is created and then changed.
func CreateAndChange(s *stage.Stage) {
	s.Take(createFoo("a", "a", 1), converged, scaleAndRename, converged)
}

// scaleAndRename scales the Foo and changes its deploymentName. The name stays if the program ignores a
// rename even without faults, which is reported once.
func scaleAndRename(s *stage.Stage) {
	spec := stage.Object{"replicas": 2}
	if !s.Judge.Stays {
		spec["deploymentName"] = "a-renamed"
	}
	changeFoo("a", spec)(s)
}

// remember keeps the final state of the script and its number of writes.
func remember(s *stage.Stage) {
	s.Baseline, s.Writes = s.History.Snapshot(s.Namespace), len(s.Requests(s.Begin, func(r verdict.Request) bool { return r.Method != http.MethodGet }))
}

// SameEnd fails if the final state differs from the one without faults: P6.
func SameEnd(s *stage.Stage) {
	if diff := cmp.Diff(s.Baseline, s.History.Snapshot(s.Namespace)); diff != "" {
		s.Find(verdict.Found(P6, verdict.Different, time.Now(), "Without the fault (-) and after it (+):\n%s", diff))
	}
}
