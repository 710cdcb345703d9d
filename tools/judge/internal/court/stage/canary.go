package stage

import (
	"context"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/tools/judge/internal/court/verdict"
)

// canary is a Lease that the judge keeps writing. Each time it waits until a watch delivers the write, like a
// program that waits for an event. While that takes longer than a beat, the machine is slow, and the judge's
// time slows down: a bound of 60 s then takes longer. A nil canary shows a machine that is never slow.
type canary struct {
	mu     sync.Mutex
	beaten time.Duration // how much time had passed at the last beat
	last   time.Time     // when that was
	late   []verdict.Blindness
}

const (
	beat = 100 * time.Millisecond
	// latest is the longest delay that does not count as a slow machine.
	latest = 5 * beat
	// slowest limits the slowdown: time passes at 1/slowest of its speed at least, so that each wait ends.
	slowest = 4
)

// Now returns the time that has passed for the program.
func (c *canary) Now() time.Duration {
	if c == nil {
		return time.Duration(time.Now().UnixNano())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.beaten + fair(time.Since(c.last))
}

// fair returns how much of the canary's delay counts.
func fair(took time.Duration) time.Duration { return max(min(took, beat), took/slowest) }

// back records the canary's return.
func (c *canary) back(began, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beaten, c.last = c.beaten+fair(now.Sub(c.last)), now
	if now.Sub(began) > latest {
		c.late = append(c.late, verdict.Blindness{From: began, To: now})
	}
}

// Slow returns the periods since a time in which the machine was slow.
func (c *canary) Slow(since time.Time) []verdict.Blindness {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.late), func(late verdict.Blindness) bool { return !late.To.After(since) })
}

// fly creates a canary and runs it until ctx is done.
func fly(ctx context.Context, kube kubernetes.Interface) (*canary, error) {
	const name = "judge-canary"
	leases := kube.CoordinationV1().Leases(metav1.NamespaceDefault)
	if _, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &coordinationv1.Lease{}, Handler: cache.ResourceEventHandlerFuncs{}, ListerWatcher: listWatch(leases.List, leases.Watch)})
	go informer.RunWithContext(ctx)
	c := &canary{last: time.Now()}
	go utilwait.NonSlidingUntilWithContext(ctx, func(ctx context.Context) {
		began := time.Now()
		sent := began.String()
		if _, err := leases.Patch(ctx, name, MergePatch, Encoded(Object{"metadata": Object{"annotations": Object{name: sent}}}), metav1.PatchOptions{}); err != nil {
			return
		}
		if utilwait.PollUntilContextCancel(ctx, beat/20, true, func(context.Context) (back bool, _ error) {
			lease, there, err := store.GetByKey(metav1.NamespaceDefault + "/" + name)
			return there && lease.(*coordinationv1.Lease).Annotations[name] == sent, err
		}) == nil {
			c.back(began, time.Now())
		}
	}, beat)
	return c, nil
}

// listWatch returns the ListWatch of an informer from a client's methods.
func listWatch[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error), watch cache.WatchFuncWithContext) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		WatchFuncWithContext: watch,
	}
}
