package verdict

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/tests/oracle"
)

// past is a history written by a test. There are 10 seconds between two versions.
type past struct {
	*History
	revision int
}

func newPast() *past {
	return &past{History: NewHistory()}
}

func (p *past) next() string { p.revision++; return fmt.Sprint(p.revision) }

// foo adds a version of a Foo. Its name is its UID.
func (p *past) foo(name string, generation int64, deployment string, replicas int32) *past {
	f := &v1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: p.next(), Generation: generation},
		Spec:       v1alpha1.FooSpec{DeploymentName: deployment, Replicas: &replicas}, Status: v1alpha1.FooStatus{AvailableReplicas: replicas},
	}
	p.mine[f.ResourceVersion] = true
	p.Foos[name] = f
	return p.version(version{foo: f})
}

// deployment adds a version of a Deployment, written by the program. Its name is its UID.
func (p *past) deployment(name, owner string, replicas int32) *past {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: p.next()}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
	d.Status.AvailableReplicas = replicas
	if owner != "" {
		d.OwnerReferences = []metav1.OwnerReference{{Kind: "Foo", Name: owner, UID: types.UID(owner), Controller: new(true)}}
	}
	p.Add(d, false)
	p.versions[len(p.versions)-1].at = p.now()
	return p
}

// another marks the last version as another client's.
func (p *past) another() *past { p.mine[fmt.Sprint(p.revision)] = true; return p }

// image adds a version of the last Deployment, with a container of this image.
func (p *past) image(name string) *past {
	return p.changed(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = []corev1.Container{{Image: name}} })
}

func (p *past) pending() *past {
	return p.changed(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 })
}

func (p *past) changed(change func(d *appsv1.Deployment)) *past {
	d := p.versions[len(p.versions)-1].deployment.DeepCopy()
	d.ResourceVersion = p.next()
	change(d)
	p.Add(d, false)
	return p
}

func (p *past) gone(name string) *past {
	d := p.deployments[name].DeepCopy()
	d.ResourceVersion = p.next()
	p.Add(d, true)
	p.versions[len(p.versions)-1].at = p.now()
	return p
}

func (p *past) version(v version) *past {
	v.revision, v.at = uint64(p.revision), p.now()
	p.versions = append(p.versions, v)
	return p
}

func (p *past) now() time.Time { return time.Unix(int64(10*p.revision), 0) }

// A correct controller's history has no violation, and each wrong history has the named one.
func TestOverTime(t *testing.T) {
	for _, test := range []struct {
		reason string
		past   *past
		want   string
	}{
		{"created and scaled", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "a", 3).deployment("a", "a", 3), ""},
		{"a person scales, the program scales back", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).deployment("a", "a", 4).another().deployment("a", "a", 1), ""},
		{"renamed", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "b", 1).deployment("b", "a", 1).gone("a"), ""},
		{"renamed, and the old one went first", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "b", 1).gone("a").deployment("b", "a", 1), "P1"},
		{"the old one comes back", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "b", 1).deployment("b", "a", 1).gone("a").deployment("a", "a", 1), "P3"},
		{"an old number is set again", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "a", 3).deployment("a", "a", 3).deployment("a", "a", 1), "P1"},
		{"recreated with a different number of replicas", newPast().foo("a", 1, "a", 3).deployment("a", "a", 3).gone("a").deployment("a2", "a", 1), "P1"},
		{"adopted", newPast().deployment("x", "", 2).another().foo("a", 1, "x", 1).deployment("x", "a", 2), "P5"},
		{"scaled, though it has no controller", newPast().deployment("x", "", 2).another().foo("a", 1, "x", 1).deployment("x", "", 1), "P5"},
		{"deleted, though it has no controller", newPast().deployment("x", "", 2).another().foo("a", 1, "x", 1).gone("x"), "P5"},
		{"a person's own Deployment", newPast().deployment("x", "", 2).another().deployment("x", "", 3).another(), ""},
		{"taken from another Foo", newPast().foo("a", 1, "x", 1).deployment("x", "a", 1).foo("b", 1, "x", 1).deployment("x", "b", 1), "P5"},
		{"scaled for another Foo", newPast().foo("a", 1, "x", 1).deployment("x", "a", 1).foo("b", 1, "x", 7).deployment("x", "a", 7), "P5"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, f := range test.past.OverTime(nil) {
				got = append(got, f.Property.String())
			}
			// The first is enough: one mistake may violate more.
			if first := strings.Join(got[:min(1, len(got))], ""); first != test.want {
				t.Errorf("violated: %v, want %q", got, test.want)
			}
		})
	}
}

// A program that has not received a change may act on the previous version.
func TestOverTimeAllowsMissedEvents(t *testing.T) {
	p := newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "b", 1)
	renamed := p.now()
	p.deployment("b", "a", 1).gone("a").deployment("a", "a", 1)
	blind := []Blindness{{renamed.Add(-time.Second), p.now().Add(time.Minute)}}
	if got := p.OverTime(blind); len(got) != 0 {
		t.Errorf("violated: %v", got)
	}
	// It may not use a name that the Foo has never had.
	p.deployment("a-x7k2p", "a", 1)
	if got := p.OverTime(blind); len(got) != 1 || got[0].Property != P3 {
		t.Errorf("violated: %v, want P3", got)
	}
}

// History.Wrong returns the violations at the end of a history.
func TestWrong(t *testing.T) {
	for _, test := range []struct {
		reason string
		past   *past
		want   string
	}{
		{"as asked", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1), ""},
		{"none", newPast().foo("a", 1, "a", 1), "P1"},
		{"another number", newPast().foo("a", 1, "a", 1).deployment("a", "a", 2), "P1"},
		{"a foreign Deployment has the name", newPast().deployment("x", "", 2).another().foo("a", 1, "x", 0), ""},
		{"a foreign Deployment's replicas in the status", newPast().deployment("x", "", 2).another().foo("a", 1, "x", 2), "P1"},
		{"no owner reference", newPast().foo("a", 1, "a", 0).deployment("a", "", 1), "P1 P4"},
		{"left over", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).foo("a", 2, "b", 1).deployment("b", "a", 1), "P4"},
		{"its Foo is gone", newPast().deployment("a", "a", 1), "P4"},
		{"another image", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).image("x"), "P1"},
		{"no Pod yet", newPast().foo("a", 1, "a", 1).deployment("a", "a", 1).pending(), "-"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := ""
			for _, f := range test.past.Wrong() {
				got += cmp.Or(f.Property.String(), "-")
			}
			if got != test.want {
				t.Errorf("wrong: %q, want %q", got, test.want)
			}
		})
	}
}

// A Foo that the Go type cannot hold asks for no Deployment.
func TestReadFoo(t *testing.T) {
	for _, test := range []struct {
		spec     any
		possible bool
	}{
		{map[string]any{"deploymentName": "a"}, true},
		{map[string]any{"deploymentName": "a", "replicas": int64(0)}, true},
		{map[string]any{"deploymentName": "a", "replicas": int64(3_000_000_000)}, false},
		{map[string]any{"deploymentName": "a", "replicas": "three"}, false},
		{map[string]any{"deploymentName": int64(12)}, false},
		{"a spec", false},
		{nil, false},
	} {
		f := readFoo(&unstructured.Unstructured{Object: map[string]any{"spec": test.spec, "status": map[string]any{"availableReplicas": int64(2), "conditions": []any{map[string]any{"type": "Ready"}}}}})
		if oracle.Possible(f) != test.possible {
			t.Errorf("%v: possible is %t", test.spec, !test.possible)
		}
		if f.Status.AvailableReplicas != 2 || len(f.Status.Conditions) != 1 || f.Status.Conditions[0].Type != "Ready" {
			t.Errorf("%v: the status is %+v", test.spec, f.Status)
		}
	}
}
