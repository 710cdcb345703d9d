package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/byhand/kit/check"
	"example.com/byhand/kit/leader"
	"example.com/byhand/kit/testkit"
)

var parts = check.Kind{Scheme: scheme, Plural: resource, CRD: "config/crd.yaml", Sample: "config/sample.yaml"}

// TestKind: types, copies, registration, definition and sample are in step.
func TestKind(t *testing.T) { parts.Test(t) }

// program is the whole program and an API server, in memory, where time stands still while one works.
type program struct {
	*testing.T
	*testkit.APIServer
	ended chan error
}

// start runs the test in a bubble, in which the program runs, as the leader.
func start(t *testing.T, test func(p *program)) {
	synctest.Test(t, func(t *testing.T) {
		configMap := testkit.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Plural: "configmaps", Blind: true}
		p := &program{T: t, APIServer: testkit.NewAPIServer(parts.Resource(t), configMap), ended: make(chan error, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer func() { cancel(); running.Wait() }()                      // It gives its Lease away.
		election := leader.Flags(flag.NewFlagSet("", flag.PanicOnError)) // the defaults
		election.Elect, election.Name = true, leaseName
		running.Go(func() { p.ended <- runWith(ctx, p.Config(), "default", options{workers: 2, election: election}) })
		p.later()
		test(p)
	})
}

// later waits until the program has nothing left to do, for two minutes of its time.
func (p *program) later() {
	p.Helper()
	time.Sleep(2 * time.Minute)
	if len(p.ended) > 0 {
		p.Fatalf("main.go: run has ended: %v", <-p.ended)
	}
}

// writes are those that the program has sent, without its Lease.
func (p *program) writes() (sent []string) {
	synctest.Wait()
	for _, r := range p.APIServer.Log() {
		if r.Method != http.MethodGet && r.Target.Resource != "leases" {
			sent = append(sent, r.Method+" "+r.Target.String())
		}
	}
	return sent
}

var path, configMapPath = "/apis/" + groupVersion.String() + "/namespaces/default/" + resource + "/example", "/api/v1/namespaces/default/configmaps/example"

// has fails the test unless the ConfigMap holds the text, and the Widget says why.
func (p *program) has(text, reason string) {
	p.Helper()
	object := p.Get(configMapPath)
	if object == nil {
		p.Fatal("reconcile.go has made no ConfigMap; or no handler of informer.go has called it, or main.go runs no informer")
	}
	if got, _, _ := unstructured.NestedString(object.Object, "data", "text"); got != text {
		p.Errorf("reconcile.go, or a handler of informer.go that does not call it: the ConfigMap has the text %q, want %q", got, text)
	}
	conditions, _, _ := unstructured.NestedSlice(p.Get(path).Object, "status", "conditions")
	if len(conditions) != 1 || conditions[0].(map[string]any)["reason"] != reason {
		p.Errorf("the status has the conditions %v, want one with the reason %s", conditions, reason)
	}
}

// TestReconcile: the ConfigMap is as its Widget asks, whoever changes what, and nothing is sent
// when nothing differs.
func TestReconcile(t *testing.T) {
	start(t, func(p *program) {
		p.Add(path, parts.Object(t))
		p.later()
		p.has("hello", "Written")
		if owners := p.Get(configMapPath).GetOwnerReferences(); len(owners) != 1 || owners[0].UID != p.Get(path).GetUID() {
			t.Errorf("its owners are %v, want the Widget", owners)
		}

		p.Edit(configMapPath, func(c *unstructured.Unstructured) { c.Object["data"] = map[string]any{"text": "edited"} })
		p.later()
		p.has("hello", "Written")
		p.Remove(configMapPath)
		p.later()
		p.has("hello", "Written")
		p.Edit(path, func(w *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(w.Object, "other", "spec", "text")
		})
		p.later()
		p.has("other", "Written")
		sent := p.writes()
		time.Sleep(3 * resync)
		if again := p.writes()[len(sent):]; len(again) > 0 {
			t.Errorf("reconcile.go writes although nothing has changed: %v", again)
		}
		check.Role(t, "config/role.yaml", p.APIServer.Log(), "update "+resource+"/finalizers")
	})
}

// TestNameTaken: another's ConfigMap is left alone, and when it is gone, the Widget has its own.
func TestNameTaken(t *testing.T) {
	start(t, func(p *program) {
		p.Add(configMapPath, &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"text": "theirs"}}})
		p.Add(path, parts.Object(t))
		p.later()
		p.has("theirs", "NameTaken")
		p.Remove(configMapPath)
		p.later()
		p.has("hello", "Written")
	})
}

// TestLeader: who has lost the Lease begins nothing more, and ends.
func TestLeader(t *testing.T) {
	start(t, func(p *program) {
		p.Edit("/apis/coordination.k8s.io/v1/namespaces/default/leases/"+leaseName, func(lease *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(lease.Object, "thief", "spec", "holderIdentity")
		})
		time.Sleep(3 * time.Second) // The leader sees it when it renews.
		p.Add(path, parts.Object(t))
		if err := <-p.ended; !errors.Is(err, leader.ErrLost) {
			t.Errorf("run returns %v, want ErrLost", err)
		}
		if sent := p.writes(); len(sent) > 0 {
			t.Errorf("main.go: without the Lease it sends %v: is OnlyWhileLeading around the reconcile?", sent)
		}
	})
}
