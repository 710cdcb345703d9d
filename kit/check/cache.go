package check

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/byhand/controller"
	"example.com/byhand/kit/testkit"
)

// Cache is a store that a reconcile reads. Kind.Reconcile fills it instead of an informer.
type Cache struct {
	cache.Indexer
	resource string
	typ      reflect.Type
	shown    []runtime.Object // copies of its content
}

// NewCache returns an empty cache for objects of a resource, such as "configmaps", and a Go type, such as
// &corev1.ConfigMap{}.
func NewCache(resource string, object runtime.Object) *Cache {
	return &Cache{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), resource: resource, typ: reflect.TypeOf(object).Elem()}
}

// Reconcile tests a reconcile of the sample alone. begin creates it, and returns the caches that it reads. Each
// of them is late once: it does not yet show the writes of the reconcile.
func (k *Kind) Reconcile(t *testing.T, begin func(config *rest.Config) (controller.Reconcile, []*Cache), more ...testkit.Resource) {
	t.Helper()
	for late, of := 0, 1; late < of && !t.Failed(); late++ {
		k.inBubble(t, func(t *testing.T) {
			r := &reconciled{T: t, APIServer: k.server(t, more)}
			r.reconcile, r.caches = begin(r.Config())
			of = len(r.caches)
			r.test(k, r.caches[late])
		})
	}
}

type reconciled struct {
	*testing.T
	*testkit.APIServer
	reconcile controller.Reconcile
	caches    []*Cache
	key       cache.ObjectName
}

func (r *reconciled) test(k *Kind, late *Cache) {
	path := k.path(r.T)
	r.Add(path, k.Object(r.T))
	r.key = cache.MetaObjectToName(r.Get(path))
	r.show(nil)
	sent, _, err := r.call()
	r.succeeds(err)
	if len(sent) == 0 {
		r.Fatalf("reconcile.go sends nothing for a new %s", k.Sample)
	}
	r.show(late)
	again, _, err := r.call()
	for _, write := range again {
		if slices.Contains(sent, write) {
			r.Fatalf("reconcile.go sends %s again, while the cache of %s does not show the first one yet: after each write, call r.Writes.Await", write, late.resource)
		}
	}
	r.succeeds(err)
	r.rest()
	// Owned objects lose their content. An object that was changed in place in a cache now differs from the API
	// server's.
	for _, c := range r.caches {
		if c.resource != k.Plural {
			r.Each(c.resource, empty)
		}
	}
	r.rest()
}

// empty removes everything but metadata and status from an object.
func empty(object *unstructured.Unstructured) {
	for field := range object.Object {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field) {
			delete(object.Object, field)
		}
	}
}

// show fills the caches, except late.
func (r *reconciled) show(late *Cache) {
	r.Helper()
	for _, c := range r.caches {
		if c == late {
			continue
		}
		var objects []any
		c.shown = nil
		for _, stored := range r.List(c.resource) {
			object := reflect.New(c.typ).Interface().(runtime.Object)
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, object); err != nil {
				r.Fatalf("%s cannot hold an object of %s: %v", c.typ, c.resource, err)
			}
			object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as a client does
			objects, c.shown = append(objects, object), append(c.shown, object.DeepCopyObject())
		}
		if err := c.Replace(objects, r.Latest()); err != nil {
			r.Fatal(err)
		}
	}
}

// call reconciles once, and also returns the writes that were sent.
func (r *reconciled) call() (sent []string, requeueAfter time.Duration, err error) {
	r.Helper()
	r.Forget()
	requeueAfter, err = r.reconcile(klog.NewContext(r.Context(), klog.New(nil)), r.key)
	for _, c := range r.caches {
		for _, before := range c.shown {
			key, _ := cache.MetaNamespaceKeyFunc(before)
			if now, _, _ := c.GetByKey(key); !reflect.DeepEqual(now, before) {
				r.Fatalf("reconcile.go has changed an object of the cache of %s, which is shared: change a copy, as DeepCopy makes one", c.resource)
			}
		}
	}
	return writes(r.APIServer.Log()), requeueAfter, err
}

// succeeds fails the test on an error: nothing disturbs the reconcile.
func (r *reconciled) succeeds(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("nothing is wrong, and reconcile.go returns the error: %v", err)
	}
}

// rest reconciles until no write is sent. Then nothing must be left to do.
func (r *reconciled) rest() {
	r.Helper()
	var last []string
	for range 10 {
		time.Sleep(time.Minute) // No back-off is as long.
		r.show(nil)
		sent, requeueAfter, err := r.call()
		r.succeeds(err)
		switch {
		case len(sent) > 0:
			last = sent
		case requeueAfter > 0:
			r.Fatalf("nothing is left to do, but reconcile.go returns the delay %s, so it runs forever", requeueAfter)
		default:
			return
		}
	}
	r.Fatalf("reconcile.go writes although nothing differs: %v", last)
}
