package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Informer keeps one resource in memory. Call Run once.
type Informer struct {
	// Resource is the plural and the group, as in "deployments.apps".
	Resource string
	// Store holds the objects by key, "namespace/name", and by index. It is complete once WaitForSync has
	// returned nil. Only read it, from any goroutine.
	Store cache.Indexer
	// Handler is called for each change, after Store shows it. It can be replaced before Run.
	Handler struct{ cache.ResourceEventHandler }

	controller cache.Controller
	connection connection // ready.go
}

// New returns an informer of one resource. options has the type of the object, the handler, the resync period
// (0: no resync) and the indexers. The Reflector sends each request through the two functions of
// listWatch, which use client. New uses client only to detect a fake, which does not support streaming lists.
func New(resource schema.GroupResource, client any, listWatch *cache.ListWatch, options cache.InformerOptions) *Informer {
	i := &Informer{Resource: resource.String()}
	i.Handler.ResourceEventHandler, options.Handler = options.Handler, &i.Handler
	options.ListerWatcher = cache.ToListWatcherWithWatchListSemantics(i.connection.track(listWatch), client)
	if options.Transform == nil {
		options.Transform = dropManagedFields
	}
	// Many examples call cache.NewInformer, which is deprecated and runs the same code.
	store, controller := cache.NewInformerWithOptions(options)
	i.Store, i.controller = store.(cache.Indexer), controller
	return i
}

// Run lists, watches and calls the handler until ctx is done. The Reflector logs its errors and retries. After a
// failed request, the Reflector may outlive Run by up to a minute, but sends no more requests.
func (i *Informer) Run(ctx context.Context) {
	go i.controller.RunWithContext(ctx)
	<-ctx.Done()
}

// WaitForSync returns nil when the Store of each informer holds the objects of the first list and the handler
// was called for each. After timeout it returns an error with each informer that has not synced and its last error.
func WaitForSync(ctx context.Context, timeout time.Duration, informers ...*Informer) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := wait.PollUntilContextCancel(limited, 20*time.Millisecond, true, func(context.Context) (synced bool, _ error) {
		return !slices.ContainsFunc(informers, func(i *Informer) bool { return !i.controller.HasSynced() }), nil
	})
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var notReady []error
	for _, i := range informers {
		if !i.controller.HasSynced() {
			notReady = append(notReady, i.Ready())
		}
	}
	return errors.Join(notReady...)
}

// String returns the number of objects in the Store and the resource.
func (i *Informer) String() string { return fmt.Sprint(len(i.Store.ListKeys()), " ", i.Resource) }

// dropManagedFields is called for each object before it enters the Store. managedFields is a large part of a
// small object, and nothing here reads it. A PUT without managedFields does not change the stored ones.
func dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

func byIndex[T any](store cache.Indexer, index, value string) []T {
	objects, err := store.ByIndex(index, value)
	if err != nil {
		panic(err) // the Store has no such index
	}
	typed := make([]T, 0, len(objects))
	for _, obj := range objects {
		typed = append(typed, obj.(T))
	}
	return typed
}
