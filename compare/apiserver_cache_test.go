//go:build integration

package compare

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// byOwner is an index of the cache: the pizzas of an owner, by its UID.
const byOwner = "owner"

// A cache asks for one stream for each form of the objects. It begins with those that are
// there, and tells of each change.
func testCache(k *kitchen) {
	first := k.baked("first")
	asked := &asked{}
	cached := k.newCache(asked)
	typed, asMap, metadata := empty()
	heard := ears{}
	for form, object := range map[string]client.Object{"typed": typed, "unstructured": asMap, "metadata": metadata} {
		informer, err := cached.GetInformer(k.Context(), object, cache.BlockUntilSynced(false))
		k.must(err)
		heard[form] = k.listen(informer)
	}
	go func() { _ = cached.Start(k.Context()) }()
	heard.all(k, "added first")

	second := k.pizza("second")
	k.must(controllerutil.SetControllerReference(first, second, k.scheme))
	k.must(k.Create(k.Context(), second))
	heard.all(k, "added second")
	var owned v1beta1.PizzaList
	k.must(cached.List(k.Context(), &owned, client.MatchingFields{byOwner: string(first.UID)}))
	if len(owned.Items) != 1 || !metav1.IsControlledBy(&owned.Items[0], first) {
		k.Errorf("owned by the first pizza: %+v, want the second", owned.Items)
	}

	second.Spec.Toppings[0].Quantity = 2
	k.must(k.Update(k.Context(), second))
	heard.all(k, "changed second")
	k.must(cached.Get(k.Context(), client.ObjectKeyFromObject(second), typed))
	typed.TypeMeta = second.TypeMeta // A cache sets it, a client does not.
	if diff := cmp.Diff(second, typed); diff != "" {
		k.Errorf("in the cache (-answered +cached):\n%s", diff)
	}
	k.must(k.Delete(k.Context(), second))
	heard.all(k, "deleted second")
	if diff := cmp.Diff([]string{"stream", "stream", "stream"}, asked.all()); diff != "" {
		k.Errorf("how the cache has read pizzas (-want +got):\n%s", diff)
	}
}

// ears are what the informer of each form hears.
type ears map[string]<-chan string

// all waits until each of them hears something, which must be this.
func (e ears) all(k *kitchen, want string) {
	k.Helper()
	for form, events := range e {
		select {
		case got := <-events:
			if got != want {
				k.Fatalf("%s: heard %q, want %q", form, got, want)
			}
		case <-time.After(deadline):
			k.Fatalf("%s: heard nothing, want %q", form, want)
		}
	}
}

// newCache returns a cache of the pizzas of this test, with an index of their owners.
func (k *kitchen) newCache(asked *asked) cache.Cache {
	k.Helper()
	config := rest.CopyConfig(k.config)
	config.Wrap(asked.wrap)
	cached, err := cache.New(config, cache.Options{
		Scheme:               k.scheme,
		DefaultNamespaces:    map[string]cache.Config{k.namespace: {}},
		DefaultLabelSelector: labels.SelectorFromSet(k.pizza("").Labels),
	})
	k.must(err)
	k.must(cached.IndexField(k.Context(), &v1beta1.Pizza{}, byOwner, func(o client.Object) []string {
		if owner := metav1.GetControllerOf(o); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	}))
	return cached
}

// listen returns what an informer hears, in order.
func (k *kitchen) listen(informer cache.Informer) <-chan string {
	k.Helper()
	events := make(chan string, 100)
	tell := func(what string, o any) { events <- what + " " + o.(client.Object).GetName() }
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell("added", o) },
		UpdateFunc: func(_, o any) { tell("changed", o) },
		DeleteFunc: func(o any) { tell("deleted", o) },
	})
	k.must(err)
	return events
}

// asked notes how a client reads pizzas.
type asked struct {
	mu  sync.Mutex
	how []string
}

func (a *asked) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if strings.HasSuffix(request.URL.Path, "/pizzas") {
			a.note(request.URL.Query())
		}
		return next.RoundTrip(request)
	})
}

func (a *asked) note(query url.Values) {
	how := "list"
	switch {
	case query.Get("sendInitialEvents") == "true":
		how = "stream"
	case query.Get("watch") == "true":
		how = "watch"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.how = append(a.how, how)
}

func (a *asked) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.how)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
