package observer

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// late calls do while no goroutine publishes, then publishes the steps. If do waits until its
// steps are published, late does not return.
func late(r *Observer, do func()) {
	r.publishing.Lock()
	do()
	r.publish(0)
	r.publishing.Unlock()
}

// A Foo passes all parts while no goroutine publishes, without a wait. The steps published later show
// the state at the time of each step, and recognize the controller's own writes.
func TestToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, api, client, _ := served(t)
		before, after := api.Latest(), fmt.Sprint(api.Version()+1)
		queue := r.Queue(fooKind, controller.NewQueue(""))
		defer queue.ShutDown()
		handler := r.handler(fooKind, controller.EnqueueObject(queue))
		observed := r.Reconcile(fooKind, reconcileFunc(func(ctx context.Context, _ cache.ObjectName) (time.Duration, error) {
			_, err := client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, updated(before), metav1.UpdateOptions{})
			return 0, err
		}))
		late(r, func() {
			handler.OnAdd(foo(before), false)
			// The event overtakes the response to the write that caused it.
			handler.OnUpdate(foo(before), foo(after))
			key, _ := queue.Get()
			if _, err := observed.Reconcile(t.Context(), key); err != nil {
				t.Error(err)
			}
			handler.OnUpdate(foo(before), foo(after))
			queue.Forget(key)
			queue.Done(key)
		})
		want(t, r,
			"store added: wants d",
			"queue added:  ← Foo foo added",
			"store updated: wants d ← our own write",
			"queue coalesced: waits already ← our own write: Foo foo updated",
			"worker got: waited 0s ← Foo foo added; our own write: Foo foo updated",
			"reconcile started:  ← Foo foo added; our own write: Foo foo updated",
			"request sent: update the status of Foo foo",
			"request answered: OK",
			"reconcile ended: wrote the status (Ready False, NameTaken)",
			"store updated: wants d ← our own write",
			"queue coalesced: a worker has it: comes back when that is done ← our own write: Foo foo updated",
			"worker done: back into the queue",
		)
	})
}
