package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// Since when an informer is blind. Without this file nobody would know (TestReady):
//
//	0 s    All is well. Somebody deletes the CRD: 404.
//	1 s    The Reflector tries again, and again. It logs each error and returns none.
//	∞      The Store grows old. /readyz and the metrics say that all is well.
//
// The same follows from an object that the Go type cannot hold, from a conversion webhook that
// is broken, from a server that asks for an hour's patience (client-go waits inside the call, and
// logs nothing), and from a streaming list whose bookmark is lost (TestWaitForSync).

// blindAfter is how long an informer may be blind and ready.
const blindAfter = time.Minute

// What an open request waits for.
var (
	errNoAnswer   = errors.New("a request has no answer yet")
	errNoBookmark = errors.New("a streaming list waits for an object or for its bookmark (a proxy may drop that, and Kubernetes before 1.27 sends none: KUBE_FEATURE_WatchListClient=false in the environment makes client-go send a LIST instead)")
)

// sight says whether an informer sees: while a watch is open, however quiet it is, and the list
// before it is complete. Otherwise it is blind.
type sight struct {
	sync.Mutex
	// why it is blind: the error of the last request or stream, or what an open one waits for.
	// Nil while it sees.
	why error
	// since is when it became blind, or when a streaming list last made progress.
	since time.Time
	// received is the most objects of one streaming list. Fewer are no progress: each list may
	// break at the same object. Nor is anything after the first sync, hasSeen: what was created
	// since makes each list longer.
	received int
	hasSeen  bool
}

// note notes what is known of a request now: the new value of why, and how many objects the
// stream has delivered.
func (s *sight) note(why error, received int) {
	s.Lock()
	defer s.Unlock()
	if why == nil || s.why == nil || received > s.received && !s.hasSeen {
		s.since, s.received = time.Now(), received
	}
	s.hasSeen = s.hasSeen || why == nil
	// While a request waits, the error of the one before says more.
	if why != errNoAnswer || s.why == nil {
		s.why = why
	}
}

// through returns the stream, and notes its events. end is the timer that stops it. why is what it
// begins with: errNoBookmark, or nil for one without a list.
func (s *sight) through(stream watch.Interface, end *time.Timer, why error) watch.Interface {
	received := 0
	s.note(why, received)
	return drained{watch.Filter(stream, func(event watch.Event) (watch.Event, bool) {
		switch object, _ := event.Object.(metav1.Object); {
		case event.Type == watch.Error:
			why, received = apierrors.FromObject(event.Object), 0
		case event.Type != watch.Bookmark:
			received++
		case object != nil && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
			why = nil
		}
		s.note(why, received)
		return event, true
	}), end}
}

// drained is what watch.Filter returns. Its goroutine would wait for ever for somebody who
// takes the last event.
type drained struct {
	watch.Interface
	end *time.Timer
}

func (d drained) Stop() {
	d.Interface.Stop()
	d.end.Stop() // or it keeps what the stream has read in memory, until it is due
	go func() {
		for range d.ResultChan() {
		}
	}()
}

// String says how many objects the Store holds, and of which resource.
func (i *Informer) String() string { return fmt.Sprint(len(i.Store.ListKeys()), " ", i.Resource) }

// blind returns an error if the informer has been blind for the limit. After the sync a right
// that was lost counts at once: it does not come back by itself.
func (i *Informer) blind(limit time.Duration) error {
	i.sight.Lock()
	defer i.sight.Unlock()
	blind := time.Since(i.sight.since)
	isLost := i.controller.HasSynced() && (apierrors.IsForbidden(i.sight.why) || apierrors.IsUnauthorized(i.sight.why))
	if i.sight.why == nil || blind < limit && !isLost {
		return nil
	}
	return fmt.Errorf("%s: blind for %s: %w", i.Resource, blind.Round(time.Second), i.sight.why)
}

// Ready returns nil when the Store holds the objects of the first list, the handler was called
// for each, and the informer has not been blind for a minute. Its error names the resource, how
// long it has been blind, and why: the error of the last request or what it waits for. Ready does
// not wait.
func (i *Informer) Ready() error {
	if err := i.blind(blindAfter); err != nil || i.controller.HasSynced() {
		return err
	}
	i.sight.Lock()
	defer i.sight.Unlock()
	return fmt.Errorf("%s: the first list is not complete, %d objects received: %w", i.Resource, i.sight.received, cmp.Or(i.sight.why, errNoAnswer))
}

// WaitForSync returns nil when the Store of every informer holds the objects of the first list
// and the handler was called for each. It waits as long as there is progress: when some have been
// blind for timeout, it returns their errors, as Ready has them.
func WaitForSync(ctx context.Context, timeout time.Duration, informers ...*Informer) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (synced bool, blind error) {
		synced = true
		for _, i := range informers {
			if !i.controller.HasSynced() {
				synced, blind = false, errors.Join(blind, i.blind(timeout))
			}
		}
		return synced, blind
	})
}
