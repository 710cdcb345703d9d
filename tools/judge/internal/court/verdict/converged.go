package verdict

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/byhand/internal/tests/oracle"
)

// ofFault has the properties and the lesson of each kind of fault that the program causes. The other kinds
// mean that the controllers of Kubernetes have not finished.
var ofFault = map[oracle.Kind]struct {
	properties Properties
	lesson     *Lesson
}{
	oracle.Absent:      {P1, Absent},
	oracle.WrongSpec:   {P1, wrongSpec},
	oracle.WrongStatus: {P1, wrongStatus},
	oracle.LeftOver:    {P4, LeftOver},
	oracle.Orphaned:    {P4, Orphaned},
}

// Wrong returns the differences from the required state: P1 and P4. It is empty when everything has
// converged.
func (h *History) Wrong() (all []Finding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	foos, deployments := sortedByName(h.Foos), sortedByName(h.deployments)
	for _, fault := range oracle.Any(values(foos), values(deployments)) {
		if fault.Kind != oracle.RollingOut || !h.Unplayed {
			is := ofFault[fault.Kind]
			all = append(all, Found(is.properties, is.lesson, now, "%s", fault.Text))
		}
	}
	// The rest needs the history.
	for _, d := range deployments {
		if oracle.ControllerOf(d) == "" && d.DeletionTimestamp == nil && !h.isForeign(d) {
			all = append(all, Found(P1|P4, Uncontrolled, now, "Deployment %s has no owner reference to the Foo that it was made for (revision %s).", d.Name, d.ResourceVersion))
		}
	}
	for _, f := range foos {
		d := h.deployments[f.Spec.DeploymentName]
		if d == nil || oracle.ControllerOf(d) != f.UID || d.DeletionTimestamp != nil || f.DeletionTimestamp != nil || !oracle.Possible(f) {
			continue
		}
		if made := oracle.Images(h.first[d.UID]); !slices.Equal(made, oracle.Images(d)) {
			all = append(all, Found(P1, Drifted, now, "The program made Deployment %s with the images %v; at revision %s it has %v.", d.Name, made, d.ResourceVersion, oracle.Images(d)))
		}
	}
	return all
}

// isForeign reports whether a Deployment without a controller is not the program's to delete: the judge
// created it, or a Foo controlled it at first.
func (h *History) isForeign(d *appsv1.Deployment) bool {
	first := h.first[d.UID]
	return h.mine[first.ResourceVersion] || oracle.ControllerOf(first) != ""
}

func values[T any](pointers []*T) (all []T) {
	for _, p := range pointers {
		all = append(all, *p)
	}
	return all
}

func sortedByName[T any](byName map[string]T) (all []T) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}
