package informer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// Informer keeps one resource in memory. Make it with NewProjects, NewFoos or
// NewDeployments, or with New for another kind. Call Run once, and read Store at any time
// from any goroutine.
type Informer struct {
	// Resource is the plural and the group, as in "deployments.apps".
	Resource string
	// Store holds the objects by key, "namespace/name", and by index. It is
	// complete once WaitForSync has returned nil. Only read it.
	Store cache.Indexer
	// Handler is called for each change, after Store has it. An observer may put another one into
	// it before Run.
	Handler struct{ cache.ResourceEventHandler }

	controller cache.Controller
	sight      sight
}

// New returns an informer of one resource. options has the type of the object, the handler,
// the period of the resync (0: none) and the indexers. The Reflector sends every request
// through the two functions of listWatch. client is the clientset behind them. It is asked one
// thing: can it stream a list? A fake cannot; without that answer the Reflector would wait for
// the bookmark for ever.
func New(resource schema.GroupResource, client any, listWatch *cache.ListWatch, options cache.InformerOptions) *Informer {
	i := &Informer{Resource: resource.String()}
	i.Handler.ResourceEventHandler, options.Handler = options.Handler, &i.Handler
	options.ListerWatcher = cache.ToListWatcherWithWatchListSemantics(i.requests(listWatch), client)
	if options.Transform == nil {
		options.Transform = dropManagedFields
	}
	// Many examples call cache.NewInformer, which is deprecated and runs the same code.
	store, controller := cache.NewInformerWithOptions(options)
	i.Store, i.controller = store.(cache.Indexer), controller
	return i
}

// Run lists, watches and calls the handler until ctx is done. It logs each 5 s how far the first
// list is, when the informer becomes blind (Ready), and when it sees again. The Reflector's
// goroutine may outlive it by a minute, and sends nothing more: it may sleep after a failed
// request and not look at ctx (client-go's reflector.go, watchList).
func (i *Informer) Run(ctx context.Context) {
	go i.controller.RunWithContext(ctx)
	wasBlind := false
	_ = wait.PollUntilContextCancel(ctx, 5*time.Second, false, func(context.Context) (done bool, err error) {
		isBlind := i.blind(blindAfter) != nil
		if isBlind != wasBlind || !isBlind && !i.controller.HasSynced() {
			klog.FromContext(ctx).Info("Informer state", "resource", i.Resource, "blind", isBlind, "reason", i.Ready())
		}
		wasBlind = isBlind
		return false, nil
	})
}

// errNoList: client-go decodes any other answer, such as a Status, into an empty list. Every object
// would be gone.
var errNoList = errors.New("the answer is no list")

// requests returns a ListWatch that passes each request of the Reflector on, and notes how it
// ended, for progress.go.
//
// A first list that is no stream is asked for without a resourceVersion, so that it is the newest.
// The Reflector would ask for resourceVersion=0: what the API server has in memory, which may be
// old. It is not asked for in pages: a Reflector that has once listed in pages goes on so, at the
// version that it knows, and after a 410 that is old data.
func (i *Informer) requests(next *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			i.sight.note(errNoAnswer, 0)
			if opts.ResourceVersion == "0" {
				opts.ResourceVersion, opts.Limit = "", 0
			}
			list, err := next.ListWithContextFunc(ctx, opts)
			if accessor, noList := meta.ListAccessor(list); err == nil && (noList != nil || accessor.GetResourceVersion() == "") {
				err = errNoList
			}
			// Only the watch that follows ends the blindness.
			i.sight.note(cmp.Or(err, errNoAnswer), 0)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			i.sight.note(errNoAnswer, 0)
			stream, err := next.WatchFuncWithContext(ctx, opts)
			if err != nil {
				i.sight.note(err, 0)
				return nil, err
			}
			// The API server ends a watch in time. A proxy may keep what it has ended open, and silent.
			end := time.AfterFunc(time.Duration(ptr.Deref(opts.TimeoutSeconds, 0))*time.Second+blindAfter, stream.Stop)
			if opts.SendInitialEvents == nil {
				return i.sight.through(stream, end, nil), nil
			}
			return i.sight.through(stream, end, errNoBookmark), nil
		},
	}
}

// dropManagedFields is the transform, which runs before an object enters the Store.
// managedFields record which client wrote which field. They are a large part of a small
// object, and nothing here reads them. A PUT without them leaves them as they are.
func dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// byIndex returns the objects that have this value in the index.
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
