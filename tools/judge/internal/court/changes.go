package court

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// createAndChange is what most faults disturb: a Foo is created, and then changed.
func createAndChange(s *stage) { s.take(createFoo("a", "a", 1), converged, scaleAndRename, converged) }

// scaleAndRename scales the Foo and names another Deployment. The name stays if
// the program does not follow it even without faults: that is judged once.
func scaleAndRename(s *stage) {
	spec := object{"replicas": 2}
	if !s.judge.stays {
		spec["deploymentName"] = "a-renamed"
	}
	changeFoo("a", spec)(s)
}

// remember keeps the end of the script, and how many writes it took.
func remember(s *stage) {
	s.baseline, s.writes = s.history.snapshot(s.namespace), len(s.requests(s.begin, func(r request) bool { return r.Method != http.MethodGet }))
}

// sameEnd fails if the end of the script is not the one without faults: P6.
func sameEnd(s *stage) {
	if diff := cmp.Diff(s.baseline, s.history.snapshot(s.namespace)); diff != "" {
		s.find(found(P6, different, time.Now(), "Without the fault (-) and after it (+):\n%s", diff))
	}
}

// snapshot is the Deployments and the status as text, without what is different each time.
func (h *history) snapshot(namespace string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, names := object{}, []string{namespace, "NAMESPACE"}
	for _, f := range h.foos {
		now["Foo "+f.Name] = object{"availableReplicas": f.Status.AvailableReplicas}
		names = append(names, string(f.UID), "UID-OF-"+f.Name)
	}
	for _, d := range h.deployments {
		now["Deployment "+d.Name] = object{"owners": d.OwnerReferences, "spec": d.Spec}
	}
	return strings.NewReplacer(names...).Replace(mustYAML(now))
}
