package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// Blindness is a period in which the program could not see the current Foos.
type Blindness struct{ From, To time.Time }

// review checks the versions in their order for forbidden states that the final state would not show: P3, P5, and
// states that the program itself reverted (P1).
type review struct {
	blind   []Blindness
	mine    map[string]bool
	removed map[types.UID]bool

	foos        map[types.UID]*fooSoFar
	deployments map[types.UID]*appsv1.Deployment
	findings    []Finding
}

// fooSoFar is a Foo and its past.
type fooSoFar struct {
	*v1alpha1.Foo
	changed time.Time // when its current deploymentName was set
	named   []string  // the Deployments that it has asked for
	asked   []int32   // the numbers of replicas that it has asked for
	reached int64     // the generation for which the Deployment was right
}

// OnTheWay is how long the program may act on an old version after a user's change, because the event is in
// transit.
const OnTheWay = 2 * time.Second

// Complete reports whether the history has every version that the judge itself wrote. If not, other versions
// are missing, too, and a review could report violations that did not happen.
func (h *History) Complete() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	missing := maps.Clone(h.mine)
	for _, v := range h.versions {
		delete(missing, fmt.Sprint(v.revision))
	}
	return len(missing) == 0
}

// OverTime reviews all versions and returns the findings.
func (h *History) OverTime(blind []Blindness) []Finding {
	r := &review{blind: blind, mine: h.mine, removed: h.removed, foos: map[types.UID]*fooSoFar{}, deployments: map[types.UID]*appsv1.Deployment{}}
	for _, v := range h.sorted() {
		if v.foo != nil {
			r.ofFoo(v)
		} else {
			r.ofDeployment(v)
		}
	}
	return r.findings
}

func (r *review) add(p Properties, l *Lesson, v version, format string, args ...any) {
	r.findings = append(r.findings, Found(p, l, v.at, "Revision %d: "+format, append([]any{v.revision}, args...)...))
}

func (r *review) ofFoo(v version) {
	f := r.foos[v.foo.UID]
	if f == nil {
		f = &fooSoFar{Foo: v.foo, changed: v.at}
		r.foos[v.foo.UID] = f
	}
	if f.Generation != v.foo.Generation && (f.DeletionTimestamp == nil) == (v.foo.DeletionTimestamp == nil) && !v.deleted && !r.mine[v.foo.ResourceVersion] {
		r.add(P5, Foreign, v, "the program wrote the spec of Foo %s. The spec is the user's, the status the controller's.", v.foo.Name)
	}
	if f.Spec.DeploymentName != v.foo.Spec.DeploymentName {
		f.changed = v.at
	}
	f.Foo, f.named, f.asked = v.foo, append(f.named, v.foo.Spec.DeploymentName), append(f.asked, ptr.Deref(v.foo.Spec.Replicas, 1))
	if v.deleted {
		delete(r.foos, v.foo.UID)
	}
}

func (r *review) ofDeployment(v version) {
	d := v.deployment
	before := r.deployments[d.UID]
	byProgram := !r.mine[d.ResourceVersion]
	if v.deleted {
		byProgram = !r.removed[d.UID]
	}
	if before != nil && byProgram {
		r.foreignWrite(v, before)
	}
	owner := r.foos[oracle.ControllerOf(d)]
	if owner != nil && (v.deleted || d.DeletionTimestamp != nil) {
		owner.reached = 0 // The next Deployment starts from 0.
	}
	if r.deployments[d.UID] = d; v.deleted {
		delete(r.deployments, d.UID)
	}
	if owner == nil || owner.DeletionTimestamp != nil || !byProgram {
		return
	}
	switch {
	case v.deleted || d.DeletionTimestamp != nil:
		r.emptied(v, before, owner)
	case before == nil || oracle.ControllerOf(before) != owner.UID:
		r.second(v, owner)
		r.numberWritten(v, owner)
	case oracle.Replicas(before) != oracle.Replicas(d):
		r.numberWritten(v, owner)
	}
}

// foreignWrite finds that the program wrote a Deployment without a controlling Foo, or took one from its Foo.
// It also finds replicas that the controlling Foo never asked for.
func (r *review) foreignWrite(v version, before *appsv1.Deployment) {
	d, owner, was := v.deployment, oracle.ControllerOf(v.deployment), oracle.ControllerOf(before)
	switch {
	case was == "" && v.deleted:
		r.add(P5, Foreign, v, "the program deleted Deployment %s, which no Foo controlled.", d.Name)
	case was == "" && !v.deleted && !equality.Semantic.DeepEqual(owned(before), owned(d)):
		r.add(P5, Foreign, v, "the program wrote Deployment %s, which no Foo controlled: %s.", d.Name, difference(before, d))
	case was != "" && owner != "" && owner != was:
		r.add(P5, Foreign, v, "the program took Deployment %s from the Foo that controlled it, for a different Foo.", d.Name)
	case was != "" && owner == was && oracle.Replicas(before) != oracle.Replicas(d) && r.foos[was] != nil && !slices.Contains(r.foos[was].asked, oracle.Replicas(d)):
		r.add(P5, Foreign, v, "the program gave Deployment %s %d replicas. Foo %s, which controls it, never asked for that number.", d.Name, oracle.Replicas(d), r.foos[was].Name)
	}
}

// second finds that a Foo got a second Deployment under a name that it does not ask for. A Deployment of an
// earlier name may stay until it is cleaned up.
func (r *review) second(v version, owner *fooSoFar) {
	asked := slices.Contains(owner.named, v.deployment.Name)
	if v.deployment.Name == owner.Spec.DeploymentName || asked && r.unseen(owner, v.at) {
		return
	}
	for uid, other := range r.deployments {
		if uid != v.deployment.UID && oracle.ControllerOf(other) == owner.UID && other.DeletionTimestamp == nil {
			why := Twice
			if asked {
				why = Undone
			}
			r.add(P3, why, v, "Foo %s asks for Deployment %s and controls two: %s, and %s, which was just created.", owner.Name, owner.Spec.DeploymentName, other.Name, v.deployment.Name)
			return
		}
	}
}

// unseen reports whether the program may not have received the Foo's current deploymentName.
func (r *review) unseen(f *fooSoFar, at time.Time) bool {
	return at.Sub(f.changed) < OnTheWay || slices.ContainsFunc(r.blind, func(b Blindness) bool {
		return f.changed.After(b.From) && f.changed.Before(b.To) && at.Before(b.To.Add(OnTheWay))
	})
}

// numberWritten finds that the program changed the replicas after they had matched this generation of the
// spec.
func (r *review) numberWritten(v version, owner *fooSoFar) {
	d := v.deployment
	switch {
	case owner.Spec.Replicas == nil || d.Name != owner.Spec.DeploymentName:
	case oracle.Replicas(d) == *owner.Spec.Replicas:
		owner.reached = owner.Generation
	case owner.reached == owner.Generation:
		r.add(P1, Undone, v, "Foo %s (generation %d) asks for %d replicas, and Deployment %s had them. Then the program set %d.", owner.Name, owner.Generation, *owner.Spec.Replicas, d.Name, oracle.Replicas(d))
	}
}

// emptied finds that the program deleted the only Deployment of a Foo.
func (r *review) emptied(v version, before *appsv1.Deployment, owner *fooSoFar) {
	if before != nil && before.DeletionTimestamp != nil {
		return // It was deleted earlier, and is gone now.
	}
	for uid, other := range r.deployments {
		if uid != v.deployment.UID && oracle.ControllerOf(other) == owner.UID && other.DeletionTimestamp == nil {
			return
		}
	}
	r.add(P1, Gap, v, "the program deleted Deployment %s. Foo %s asks for %s, and has no Deployment now.", v.deployment.Name, owner.Name, owner.Spec.DeploymentName)
}

// owned returns the fields that only a Deployment's controller may write. The controllers of Kubernetes write
// the status and some annotations.
func owned(d *appsv1.Deployment) any {
	annotations := map[string]string{}
	for name, value := range d.Annotations {
		if !strings.HasPrefix(name, "deployment.kubernetes.io/") {
			annotations[name] = value
		}
	}
	return []any{d.Spec, d.Labels, annotations, d.OwnerReferences}
}

func difference(before, after *appsv1.Deployment) string {
	switch {
	case oracle.ControllerOf(after) != "":
		return "a Foo controls it now"
	case oracle.Replicas(before) != oracle.Replicas(after):
		return "replicas from " + fmt.Sprint(oracle.Replicas(before), " to ", oracle.Replicas(after))
	default:
		return "its labels, annotations or Pod template"
	}
}
