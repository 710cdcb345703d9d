package main

import (
	"context"
	"errors"
	"flag"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"example.com/byhand/controller"
	"example.com/byhand/kit/check"
	"example.com/byhand/kit/leader"
)

var parts = check.Kind{Scheme: scheme, Owner: kind, Plural: resource, CRD: "config/crd.yaml", Sample: "config/sample.yaml"}

// TestKind: types, copies, registration, definition and sample are in step. The other tests wait for that.
func TestKind(t *testing.T) { parts.Test(t) }

// configMapPath is where the program stores the sample's ConfigMap.
const configMapPath = "/api/v1/namespaces/default/configmaps/example"

// TestCache: a write that the cache does not show yet is not repeated, no object of the cache is
// modified, and the reconcile finishes when nothing differs.
func TestCache(t *testing.T) {
	parts.Reconcile(t, func(config *rest.Config) (controller.Reconcile, []*check.Cache) {
		client, err := NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		r := &Reconciler{Client: client, Kube: kubernetes.NewForConfigOrDie(config), Rewrites: controller.NewRewrites(), Events: events.NewFakeRecorder(100)}
		stored, configMaps := check.NewCache(resource, &Widget{}), check.NewCache("configmaps", &corev1.ConfigMap{})
		r.WidgetStore, r.ConfigMapStore = stored, configMaps
		return r.Reconcile, []*check.Cache{stored, configMaps}
	})
}

// start runs a test with the whole program as the leader. The clock advances only while both wait.
func start(t *testing.T, test func(p *check.Program)) {
	parts.Run(t, func(ctx context.Context, config *rest.Config) error {
		election := leader.Flags(flag.NewFlagSet("", flag.PanicOnError)) // the defaults
		election.Elect, election.Name = true, leaseName
		return runWith(ctx, config, "default", options{workers: 2, election: election})
	}, test)
}

// has fails the test unless the ConfigMap holds the text, and the Widget's condition the reason.
func has(p *check.Program, text, reason string) {
	p.Helper()
	p.Later()
	conditions, _, _ := unstructured.NestedSlice(p.Get(p.Path).Object, "status", "conditions")
	if len(conditions) != 1 || conditions[0].(map[string]any)["reason"] != reason {
		p.Errorf("the status has the conditions %v, want one with the reason %s", conditions, reason)
	}
	if object := p.Get(configMapPath); object == nil {
		p.Error("reconcile.go, or a handler of informer.go that does not call it: there is no ConfigMap")
	} else if got, _, _ := unstructured.NestedString(object.Object, "data", "text"); got != text {
		p.Errorf("reconcile.go, or a handler of informer.go that does not call it: the ConfigMap has the text %q, want %q", got, text)
	}
}

// TestReconcile: the ConfigMap is as its Widget asks, also after changes by others; nothing is sent when
// nothing differs; and the ConfigMap is deleted after its Widget.
func TestReconcile(t *testing.T) {
	start(t, func(p *check.Program) {
		p.Create()
		p.Later()
		p.Made(configMapPath)
		has(p, "hello", "Written")
		owner := p.Get(p.Path)
		if got, want := metav1.GetControllerOf(p.Get(configMapPath)), metav1.NewControllerRef(owner, owner.GroupVersionKind()); !reflect.DeepEqual(got, want) {
			p.Errorf("reconcile.go: the controller of the ConfigMap is %v, want %v", got, want)
		}

		p.Edit(configMapPath, func(c *unstructured.Unstructured) { c.Object["data"] = map[string]any{"text": "edited"} })
		has(p, "hello", "Written")
		p.Remove(configMapPath)
		has(p, "hello", "Written")
		p.Edit(p.Path, func(w *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(w.Object, "other", "spec", "text")
		})
		has(p, "other", "Written")
		sent := p.Writes()
		time.Sleep(3 * resync)
		if again := p.Writes()[len(sent):]; len(again) > 0 {
			p.Errorf("reconcile.go writes although nothing has changed: %v", again)
		}

		p.Delete(p.Path, "")
		p.Later()
		p.Collect()
		p.Later()
		if p.Get(configMapPath) != nil {
			p.Error("reconcile.go: the garbage collector has not deleted the ConfigMap after its Widget, or it was made again")
		}
		p.Healthy()
		check.Role(t, "config/role.yaml", p.APIServer.Log(), "update "+resource+"/finalizers")
	})
}

// TestNameTaken: a foreign ConfigMap stays unchanged. When it is gone, the Widget gets one.
func TestNameTaken(t *testing.T) {
	for _, labels := range []map[string]string{nil, {label: ""}} { // With ours the informer sees it.
		start(t, func(p *check.Program) {
			theirs := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"text": "theirs"}}}
			theirs.SetLabels(labels)
			p.Add(configMapPath, theirs)
			p.Create()
			has(p, "theirs", "NameTaken")
			p.Remove(configMapPath)
			has(p, "hello", "Written")
		})
	}
}

// TestLeader: a process that loses the Lease starts no more reconciles, and exits.
func TestLeader(t *testing.T) {
	start(t, func(p *check.Program) {
		p.Edit("/apis/coordination.k8s.io/v1/namespaces/default/leases/"+leaseName, func(lease *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(lease.Object, "thief", "spec", "holderIdentity")
		})
		time.Sleep(3 * time.Second) // The leader sees it when it renews.
		p.Create()
		if err := <-p.Ended; !errors.Is(err, leader.ErrLost) {
			p.Errorf("run returns %v, want ErrLost", err)
		}
		if sent := p.Writes(); len(sent) > 0 {
			p.Errorf("main.go: without the Lease it sends %v: is OnlyWhileLeading around the reconcile?", sent)
		}
	})
}
