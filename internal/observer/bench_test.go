package observer

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// BenchmarkReconcile is one Foo on its way: an event, the queue, a worker, the
// reconcile, a POST and a PUT with their answers over a socket; "quiet" has nothing
// to write, so nothing hides the cost. "absent" is wired without this package, "story"
// as main does by default, with a story that goes nowhere. "on" is what the way itself
// costs if every step is recorded, which are told while the clock stands still. In
// "told" they are told meanwhile, and in "printed" printed as JSON to nobody, too: on
// few cores all compete.
func BenchmarkReconcile(b *testing.B) {
	for _, name := range []string{"absent", "story", "on", "told", "printed"} {
		for _, writes := range []bool{true, false} {
			kind := "quiet"
			if writes {
				kind = "writes"
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				p := way{write: writes, observer: New(Options{All: name != "story"})}
				defer p.observer.Close()
				p.wire(b, name == "absent")
				if name == "printed" || name == "story" {
					p.observer.Print(Flag{json: name == "printed"}, io.Discard)
				}
				p.travels(b, name == "on")
			})
		}
	}
}

// travels sends the Foo again and again, and if aside is set lets its steps be told
// while the clock stands still.
func (p *way) travels(b *testing.B, aside bool) {
	if aside {
		p.observer.publishing.Lock()
		defer p.observer.publishing.Unlock()
	}
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		p.travel(b)
		if aside && n%500 == 0 {
			b.StopTimer()
			p.observer.publish(0)
			b.StartTimer()
		}
	}
}

// way is the reconcile path of one Foo.
type way struct {
	observer  *Observer
	write     bool
	handler   cache.ResourceEventHandler
	queue     controller.PriorityQueue
	reconcile controller.Reconcile
	foo       *v1alpha1.Foo
}

func (p *way) wire(b *testing.B, absent bool) {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(p.answer))
	b.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
	p.queue = controller.NewPriorityQueue("")
	b.Cleanup(p.queue.ShutDown)
	if !absent {
		p.observer.Wrap(config)
		p.queue = p.observer.Queue(fooKind, p.queue)
		p.handler = p.observer.Handler(fooKind, p.queue, enqueueFoos)
	} else {
		p.handler = enqueueFoos(p.queue)
	}
	reconciler := &controller.FooReconciler{
		Foos:            clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1(),
		Deployments:     kubernetes.NewForConfigOrDie(config).AppsV1(),
		FooStore:        cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.FooIndexers()),
		DeploymentStore: cache.NewIndexer(cache.MetaNamespaceKeyFunc, informer.DeploymentIndexers()),
		Events:          &record.FakeRecorder{},
	}
	p.foo = foo("1")
	if !p.write {
		// A Foo that is being deleted is left alone.
		p.foo.DeletionTimestamp = new(metav1.Now())
	}
	if err := reconciler.FooStore.Add(p.foo); err != nil {
		b.Fatal(err)
	}
	p.reconcile = reconciler.Reconcile
	if !absent {
		p.reconcile = p.observer.Reconcile(fooKind, reconciler)
	}
}

// answer accepts everything. Versions that are no numbers are fakes: the store has
// no lag to wait for.
func (p *way) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if strings.Contains(r.URL.Path, "/deployments") {
		d := deployment("fake", true)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(bodyOfObject(typed(d, appsv1.SchemeGroupVersion, "Deployment")))
		return
	}
	_, _ = w.Write(bodyOfObject(typed(foo("fake"), v1alpha1.SchemeGroupVersion, "Foo")))
}

func bodyOfObject(object runtime.Object) []byte {
	body, _ := json.Marshal(object)
	return body
}

func (p *way) travel(b *testing.B) {
	p.handler.OnUpdate(p.foo, p.foo)
	key, _ := p.queue.Get()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := p.reconcile(ctx, key); err != nil {
		b.Fatal(err)
	}
	p.queue.Forget(key)
	p.queue.Done(key)
}
