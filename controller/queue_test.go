package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// An event does not end the back-off of a failed key. A new spec ends it.
func TestEventDoesNotShortenBackOff(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		handler, calls := controller.EnqueueObject(queue), 0
		run(t, queue, 4, func(context.Context, cache.ObjectName) (time.Duration, error) {
			calls++
			return 0, errors.New("broken")
		})
		widget := func(generation, version int64) *metav1.ObjectMeta {
			return &metav1.ObjectMeta{Namespace: "default", Name: "one", UID: "1", Generation: generation, ResourceVersion: fmt.Sprint(version)}
		}
		for i := range int64(1500) {
			handler.OnUpdate(widget(1, i), widget(1, i+1))
			time.Sleep(10 * time.Millisecond)
		}
		if calls < 10 || calls > 15 {
			t.Errorf("%d reconciles in 15 s, want 10 to 15", calls)
		}
		before := calls
		handler.OnUpdate(widget(1, 1500), widget(2, 1501))
		synctest.Wait()
		if calls != before+1 {
			t.Errorf("%d reconciles after a new spec, want 1", calls-before)
		}
	})
}

// A key has a short delay when its back-off begins. It is queued when the back-off ends, without an event.
func TestShortDelayBeforeBackOff(t *testing.T) {
	inBubble(t, func(t *testing.T, queue controller.Queue) {
		for range 11 {
			queue.AddRateLimited(oneKey)
			key, _ := queue.Get()
			queue.Done(key)
		}
		begin, waited := time.Now(), time.Duration(0)
		queue.AddAfter(oneKey, time.Second)
		queue.AddRateLimited(oneKey)
		go func() {
			queue.Get()
			waited = time.Since(begin)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if waited != 10240*time.Millisecond {
			t.Errorf("the key is queued after %s, want 10.24s (0s: never)", waited)
		}
	})
}
