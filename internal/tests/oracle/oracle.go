// Package oracle defines a converged cluster for all tests: the Deployments and the status are what the Foos
// ask for.
package oracle

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Kind is a sort of fault.
type Kind int

const (
	Deleting    Kind = iota // a Deployment is being deleted: the garbage collector is not done
	RollingOut              // the controller of Deployments is not done
	Absent                  // a Foo has no Deployment
	WrongSpec               // its Deployment is not as it asks for
	WrongStatus             // its status is not true
	LeftOver                // it has a second Deployment, of an earlier name
	Orphaned                // a Foo was deleted, and it or its Deployment is still there
	Unkept                  // what only our controller promises
)

// Fault is one thing that is wrong.
type Fault struct {
	Kind Kind
	Text string // sentences that name the object
}

// Faults is empty when everything has converged.
type Faults []Fault

// Err returns all faults as one error, or nil.
func (f Faults) Err() error {
	var all []error
	for _, fault := range f {
		all = append(all, errors.New(fault.Text))
	}
	return errors.Join(all...)
}

// Any returns what must not be under any controller of Foos, given all Foos and Deployments
// of one namespace: at most one fault of each Foo and of each Deployment, in their order.
//
// A Foo whose name is taken, or whose spec is invalid, may keep its earlier Deployment.
func Any(foos []v1alpha1.Foo, deployments []appsv1.Deployment) Faults {
	return newNamespace(deployments).faults(foos, func(*v1alpha1.Foo) string { return "" })
}

// Ours returns the faults of Any and, for each Foo without one, the differences from this controller's
// promises: the whole status and the Pod template.
func Ours(foos []v1alpha1.Foo, deployments []appsv1.Deployment) Faults {
	n := newNamespace(deployments)
	return n.faults(foos, n.unkept)
}

type namespace struct {
	all   []appsv1.Deployment
	named map[string]*appsv1.Deployment
	// owned has the Deployments that a Foo controls, except the ones being deleted.
	owned map[types.UID][]*appsv1.Deployment
}

func newNamespace(deployments []appsv1.Deployment) *namespace {
	n := &namespace{deployments, map[string]*appsv1.Deployment{}, map[types.UID][]*appsv1.Deployment{}}
	for i := range deployments {
		d := &deployments[i]
		n.named[d.Name] = d
		if owner := ControllerOf(d); owner != "" && d.DeletionTimestamp == nil {
			n.owned[owner] = append(n.owned[owner], d)
		}
	}
	return n
}

func (n *namespace) faults(foos []v1alpha1.Foo, unkept func(*v1alpha1.Foo) string) (all Faults) {
	exists := map[types.UID]bool{}
	for i := range foos {
		foo := &foos[i]
		exists[foo.UID] = true
		kind, text := n.wrong(foo)
		if text == "" {
			kind, text = Unkept, unkept(foo)
		}
		if text != "" {
			all = append(all, Fault{kind, fmt.Sprintf("Foo %s (generation %d) asks for Deployment %s. %s", foo.Name, foo.Generation, foo.Spec.DeploymentName, text)})
		}
	}
	for i := range n.all {
		d := &n.all[i]
		switch owner := ControllerOf(d); {
		case d.DeletionTimestamp != nil:
			all = append(all, Fault{Deleting, fmt.Sprintf("Deployment %s is being deleted.", d.Name)})
		case owner != "" && !exists[owner]:
			all = append(all, Fault{Orphaned, fmt.Sprintf("The Foo that controls Deployment %s is gone, and the Deployment (revision %s) is still there.", d.Name, d.ResourceVersion)})
		}
	}
	return all
}

// wrong returns the first thing that is wrong with a Foo under any controller.
func (n *namespace) wrong(foo *v1alpha1.Foo) (Kind, string) {
	named, owned, said := n.named[foo.Spec.DeploymentName], n.owned[foo.UID], foo.Status.AvailableReplicas
	switch {
	case foo.DeletionTimestamp != nil:
		return Orphaned, "The Foo was deleted and is still there."
	case !Possible(foo):
		return 0, ""
	case named == nil:
		return Absent, "There is none."
	case named.DeletionTimestamp != nil:
		return Deleting, "That one is being deleted."
	case ControllerOf(named) != foo.UID:
		if _, available := count(owned); said != 0 && said != available {
			return WrongStatus, fmt.Sprintf("That is another's, and its own have %d available replicas; the status says %d.", available, said)
		}
		return 0, ""
	}
	asked, available := foo.Spec.Replicas, named.Status.AvailableReplicas
	switch replicas := Replicas(named); {
	case asked != nil && *asked != replicas:
		return WrongSpec, fmt.Sprintf("It asks for %d replicas, the Deployment (revision %s) for %d.", *asked, named.ResourceVersion, replicas)
	case len(owned) > 1:
		for _, d := range owned {
			if d != named {
				return LeftOver, fmt.Sprintf("It still controls Deployment %s, which it named before (revision %s).", d.Name, d.ResourceVersion)
			}
		}
	case named.Status.ObservedGeneration < named.Generation || available != replicas:
		return RollingOut, fmt.Sprintf("%d of %d replicas are available.", available, replicas)
	case said != available:
		return WrongStatus, fmt.Sprintf("It has %d available replicas (revision %s); the status (revision %s) says %d.", available, named.ResourceVersion, foo.ResourceVersion, said)
	}
	return 0, ""
}

// Possible reports whether a Deployment as a Foo asks for can exist.
func Possible(foo *v1alpha1.Foo) bool {
	return len(validation.NameIsDNSSubdomain(foo.Spec.DeploymentName, false)) == 0 && (foo.Spec.Replicas == nil || *foo.Spec.Replicas >= 0)
}

// ControllerOf returns the UID of the Foo that controls a Deployment, "" if none does.
func ControllerOf(d *appsv1.Deployment) types.UID {
	if owner := metav1.GetControllerOfNoCopy(d); owner != nil && owner.Kind == "Foo" {
		return owner.UID
	}
	return ""
}

// Replicas returns how many replicas a Deployment asks for.
func Replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// Images returns the name and the image of each container of a Deployment.
func Images(d *appsv1.Deployment) (all []string) {
	for _, c := range d.Spec.Template.Spec.Containers {
		all = append(all, c.Name+"="+c.Image)
	}
	return all
}

// count returns how many replicas Deployments have, and how many are available.
func count(deployments []*appsv1.Deployment) (replicas, available int32) {
	for _, d := range deployments {
		replicas += d.Status.Replicas
		available += d.Status.AvailableReplicas
	}
	return replicas, available
}
