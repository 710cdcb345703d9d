//go:build integration

package e2e

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// An owner reference is forged. Only the UID of its controller makes a Deployment a
// Foo's: whatever else the reference says, the Foo does not touch the Deployment,
// and gets its name when it is gone. The garbage collector removes a Deployment
// whose owner is nobody; a finalizer keeps it until the Foo has said what it sees.
func TestForgedOwners(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller("--resync", "0")
	live := s.createFoo("live", spec("live", 1))
	foo, nobody := v1alpha1.SchemeGroupVersion.String(), types.UID("00000000-0000-0000-0000-000000000000")
	tests := []struct {
		name, reason string
		owner        metav1.OwnerReference
		says, text   string
		collected    bool
	}{
		{"dead", "this name and a UID that nobody has",
			metav1.OwnerReference{APIVersion: foo, Kind: "Foo", UID: nobody, Controller: new(true)}, v1alpha1.ReasonWaitingForDeletion, "is being deleted", true},
		{"borrowed", "this name and the UID of a Foo of another name",
			metav1.OwnerReference{APIVersion: foo, Kind: "Foo", UID: live.UID, Controller: new(true)}, v1alpha1.ReasonWaitingForDeletion, "is being deleted", true},
		{"other", "the name of another Foo and a UID that nobody has",
			metav1.OwnerReference{APIVersion: foo, Kind: "Foo", Name: "live", UID: nobody, Controller: new(true)}, v1alpha1.ReasonNameTaken, `controlled by Foo "live"`, true},
		{"own", "this Foo's own UID, but not as the controller",
			metav1.OwnerReference{APIVersion: foo, Kind: "Foo", UID: ""}, v1alpha1.ReasonNameTaken, "has no controller", false},
		{"group", "this name in another API group",
			metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Foo", UID: nobody, Controller: new(true)}, v1alpha1.ReasonNameTaken, `controlled by Foo "group"`, false},
	}
	h := s.record()
	forged := map[string]types.UID{}
	for _, test := range tests {
		named := s.createFoo(test.name, spec("elsewhere-"+test.name, 1))
		if test.owner.Name == "" {
			test.owner.Name = test.name
		}
		if test.owner.UID == "" {
			test.owner.UID = named.UID
		}
		deployment := somebodys(test.name, test.owner)
		deployment.Finalizers = []string{"example.com/kept"}
		forged[test.name] = s.createDeployment(deployment).UID
		s.changeFoo(test.name, func(spec *v1alpha1.FooSpec) { spec.DeploymentName = test.name })
	}
	for _, test := range tests {
		s.says(test.name, test.says, test.text)
		if test.collected {
			s.eventually("the collector deletes Deployment "+test.name, func() error {
				deployment, err := s.deployment(test.name)
				if err == nil && deployment.DeletionTimestamp == nil {
					err = errors.New("it does not")
				}
				return err
			})
			s.says(test.name, test.says, test.text)
		}
		s.patchDeployment(test.name, `{"metadata":{"finalizers":null}}`)
		if !test.collected {
			s.deleteDeployment(test.name)
		}
	}
	for _, test := range tests {
		s.converges(test.name, test.name, 1)
	}
	c.Stop()
	h.complete()
	for _, test := range tests {
		if wrote := writers(h.versions[forged[test.name]]); wrote["byhand"] {
			t.Errorf("%s: the Deployment was written by %v", test.reason, wrote)
		}
	}
}

// Two Foos swap names: each has what the other wants, so both say so and keep what
// they have, until somebody lets one of them go elsewhere first.
func TestSwappedNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.controller("--resync", "0")
	s.createFoo("a", spec("one", 1))
	s.createFoo("b", spec("two", 1))
	s.converges("a", "one", 1)
	s.converges("b", "two", 1)
	named := func(foo, deployment string) {
		s.changeFoo(foo, func(spec *v1alpha1.FooSpec) { spec.DeploymentName = deployment })
	}
	named("a", "two")
	named("b", "one")
	s.says("a", v1alpha1.ReasonNameTaken, `controlled by Foo "b"`)
	s.says("b", v1alpha1.ReasonNameTaken, `controlled by Foo "a"`)
	s.eventually("both keep what they have", s.atRest)
	s.eventually("each was warned once", func() error {
		warned, err := s.warnings()
		if err == nil && fmt.Sprint(warned) != "map[a:1 b:1]" {
			err = fmt.Errorf("warned %v", warned)
		}
		return err
	})

	named("a", "three")
	s.converges("a", "three", 1)
	s.converges("b", "one", 1)
	named("a", "two")
	s.converges("a", "two", 1)
	s.eventually("nothing is left over", s.atRest)
	c.Stop()
	s.settles("a", "b")
}

// A Foo that is renamed twice, at last to a name that is taken, keeps both Deployments
// as long as it is blocked, and counts them. When the name is free it has one.
func TestRenamedTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	l := newLab(s, 0)
	stop := l.work(1)
	s.createFoo("foo", spec("first", 1))
	s.converges("foo", "first", 1)
	s.createDeployment(somebodys("taken"))
	s.eventually("the rollouts end", s.atRest)
	stop()

	renamed := s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "second" })
	l.shows(l.foos, "foo", renamed.ResourceVersion)
	release := l.proxy.HoldWatches("foos")
	renamed = s.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "taken" })
	l.reconciles("foo")
	release()
	l.shows(l.foos, "foo", renamed.ResourceVersion)
	s.eventually("the Foo says that the name is taken, and what runs", func() error {
		l.reconciles("foo")
		return s.atRest()
	})
	s.says("foo", v1alpha1.ReasonNameTaken, "has no controller")
	s.saysReplicas("foo", 2)

	s.deleteDeployment("taken")
	s.eventually("the Foo has the name, and one Deployment", func() error {
		l.reconciles("foo")
		return s.atRest()
	})
	s.converges("foo", "taken", 1)
}

// What has the same names in two namespaces has nothing to do with each other. Its
// controller watches every namespace, so no other test may run beside it.
func TestTwoNamespaces(t *testing.T) {
	one, two := newServer(t), newServer(t)
	c := start(t, nil, "--resync", "0")
	c.WaitFor("workers start")
	one.createFoo("foo", spec("deployment", 1))
	two.createFoo("foo", spec("deployment", 2))
	one.converges("foo", "deployment", 1)
	two.converges("foo", "deployment", 2)

	before, err := two.foo("foo")
	if err != nil {
		t.Fatal(err)
	}
	one.changeFoo("foo", func(spec *v1alpha1.FooSpec) { spec.DeploymentName = "renamed" })
	one.converges("foo", "renamed", 1)
	one.goes("deployment")
	one.deleteFoo("foo")
	one.goes("renamed")
	two.converges("foo", "deployment", 2)
	if after, err := two.foo("foo"); err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the Foo of the other namespace was written (%v)", err)
	}
	c.Stop()
}
