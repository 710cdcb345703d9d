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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Readiness. Without this file, a controller whose watches fail looks healthy (TestReady):
//
//	0 s  A user deletes the CRD. The watch ends.
//	1 s  The Reflector lists again, and gets 404. It logs the error and retries, forever.
//	∞    The Store becomes stale. /readyz and the metrics report no problem.

// Ready returns nil if the Store holds the objects of the first list, the handler was called for each, and a
// watch was open within the last minute. Its error names the resource and the last failed request. A missing
// permission is reported at once, because only a change of RBAC restores it.
func (i *Informer) Ready() error {
	lastOpen, err := i.connection.status()
	isDenied := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
	if isDenied {
		err = fmt.Errorf("%w (config/rbac has the permissions that the controller needs)", err)
	}
	switch blind := time.Since(lastOpen); {
	case !i.controller.HasSynced():
		return fmt.Errorf("%s: the first list is not complete: %w", i.Resource, err)
	case blind > time.Minute || isDenied:
		return fmt.Errorf("%s: no open watch for %s: %w", i.Resource, blind.Round(time.Second), err)
	}
	return nil
}

// connection records how the requests of a Reflector end. It is safe for concurrent use.
type connection struct {
	mu       sync.Mutex
	opened   time.Time // when the current watch was opened, zero if none is open
	lastOpen time.Time // when a watch was last open
	err      error     // of the last failed request; nil once a watch has stayed open
}

var errNoAnswer = errors.New("the API server has not answered yet, or its streaming list is not complete (if a proxy drops bookmarks, set KUBE_FEATURE_WatchListClient=false, so that client-go sends a LIST)")

// status returns when a watch was last open, and the last error. A watch counts as open only after 10 s,
// because a watch that starts with an undecodable object ends at once, every time.
func (c *connection) status() (lastOpen time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update()
	return c.lastOpen, cmp.Or(c.err, errNoAnswer)
}

func (c *connection) update() {
	if c.lastOpen.IsZero() {
		c.lastOpen = time.Now() // Before the first watch, count from the first request.
	}
	if !c.opened.IsZero() && time.Since(c.opened) > 10*time.Second {
		c.lastOpen, c.err = time.Now(), nil
	}
}

// record is called before and after each request, and at the end of a watch.
func (c *connection) record(opened time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update()
	c.opened, c.err = opened, cmp.Or(err, c.err)
}

// track returns a ListWatch that sends the same requests and records their results.
func (c *connection) track(next *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			// With "0", the API server may return old objects from memory. This requests the newest objects.
			if opts.ResourceVersion == "0" {
				opts.ResourceVersion, opts.Limit = "", 0
			}
			c.record(time.Time{}, nil)
			list, err := next.ListWithContextFunc(ctx, opts)
			c.record(time.Time{}, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (stream watch.Interface, err error) {
			c.record(time.Time{}, nil)
			if stream, err = next.WatchFuncWithContext(ctx, opts); err != nil {
				c.record(time.Time{}, err)
				return nil, err
			}
			c.record(time.Now(), nil)
			return trackedWatch{stream, c}, nil
		},
	}
}

// trackedWatch records the end of a watch: the Reflector always calls Stop.
type trackedWatch struct {
	watch.Interface
	connection *connection
}

func (w trackedWatch) Stop() {
	w.connection.record(time.Time{}, nil)
	w.Interface.Stop()
}
