package fake

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/testing"

	"example.com/byhand/clientset"
)

// Clientset is a clientset.Interface that talks to a tracker. It is safe for
// concurrent use, once its reactors are in place.
type Clientset struct {
	testing.Fake

	discovery *fakediscovery.FakeDiscovery
	tracker   testing.ObjectTracker
}

var _ clientset.Interface = &Clientset{}
var _ testing.FakeClient = &Clientset{}

// NewClientset returns a clientset that holds these objects. It panics if clientset.Scheme does not
// have the kind of an object, or if two objects have the same kind and key.
func NewClientset(objects ...runtime.Object) *Clientset {
	tracker := testing.NewFieldManagedObjectTracker(clientset.Scheme, clientset.Codecs.UniversalDecoder(), managedfields.NewDeducedTypeConverter())
	for _, object := range objects {
		if err := tracker.Add(object); err != nil {
			panic(err)
		}
	}
	c := &Clientset{tracker: tracker}
	c.discovery = &fakediscovery.FakeDiscovery{Fake: &c.Fake}
	// The last reactors handle the actions that the test's own reactors do not handle.
	c.AddReactor("delete-collection", "*", func(action testing.Action) (bool, runtime.Object, error) {
		return true, nil, fmt.Errorf("the fake's tracker cannot %s %s: prepend a reactor that can", action.GetVerb(), action.GetResource().Resource)
	})
	carryOut := testing.ObjectReaction(tracker)
	c.AddReactor("*", "*", func(action testing.Action) (bool, runtime.Object, error) {
		if err := prepare(tracker, action); err != nil {
			return true, nil, err
		}
		return carryOut(action)
	})
	c.AddWatchReactor("*", func(action testing.Action) (bool, watch.Interface, error) {
		stream, err := tracker.Watch(action.GetResource(), action.GetNamespace(), action.(testing.WatchActionImpl).ListOptions)
		return err == nil, stream, err
	})
	return c
}

// Tracker holds the objects. A test can change them there without an action.
func (c *Clientset) Tracker() testing.ObjectTracker { return c.tracker }

// Discovery implements clientset.Interface. It returns no resources until the test
// sets Fake.Resources.
func (c *Clientset) Discovery() discovery.DiscoveryInterfaces { return c.discovery }

// ExamplesV1alpha1 implements clientset.Interface.
func (c *Clientset) ExamplesV1alpha1() clientset.ExamplesV1alpha1Interface {
	return &examplesV1alpha1{&c.Fake}
}

// SamplecontrollerV1alpha1 implements clientset.Interface.
func (c *Clientset) SamplecontrollerV1alpha1() clientset.SamplecontrollerV1alpha1Interface {
	return &samplecontrollerV1alpha1{&c.Fake}
}

// IsWatchListSemanticsUnSupported makes a Reflector send a plain list: the tracker does not mark the
// end of a streaming list, and the Reflector would wait forever.
func (c *Clientset) IsWatchListSemanticsUnSupported() bool { return true }

type examplesV1alpha1 struct{ fake *testing.Fake }

// RESTClient returns nil: nothing here goes over a wire.
func (c *examplesV1alpha1) RESTClient() rest.Interface { return nil }

type samplecontrollerV1alpha1 struct{ fake *testing.Fake }

// RESTClient returns nil: nothing here goes over a wire.
func (c *samplecontrollerV1alpha1) RESTClient() rest.Interface { return nil }
