package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Modify changes an object that has other writers, too. No writer locks it. Each writer reads
// it, changes what it read and sends it back with the resourceVersion that it read. If that
// is not the newest any more, the server refuses with 409 Conflict: another writer was
// first. This one then has to read again, since its change was made from what is no longer
// true. That is optimistic concurrency: of writers that collide one always succeeds, so all
// of them come to an end.
//
// What goes wrong with less: without the resourceVersion the change of the other one is
// lost, silently. With a retry that sends the same object again, each try is a Conflict.
// With a retry after other errors a change can be made twice: a PUT whose answer is lost
// may have been done.
//
// change is called once for each try, with what was read for it, and conflict after each
// Conflict. retry.RetryOnConflict of client-go is the same loop around a function that
// reads, changes and writes; it gives up after five tries. A controller of the core has no
// loop: its reconcile returns the error, and the queue brings the key back.
func (c *Client) Modify(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, change func(*unstructured.Unstructured) error, conflict func(error)) error {
	// The wait grows, and no two writers wait equally long.
	for delay := 10 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		object, err := c.Get(ctx, resource, namespace, name)
		if err == nil && object.GetResourceVersion() == "" {
			err = errors.New("it has no resourceVersion, so an update would not see what others have written")
		}
		if err != nil {
			return err
		}
		if err := change(object); err != nil {
			return err
		}
		_, err = c.Update(ctx, resource, object)
		if !apierrors.IsConflict(err) {
			return err
		}
		conflict(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait.Jitter(delay, 1)):
		}
	}
}

// counter is the annotation that both writers count up.
const counter = "byhand.example.com/count"

// rounds is how often each of the two writers counts up.
const rounds = 5

// Collide lets two writers count up the same annotation at once, several times, and calls
// conflict for each try that the server refuses: one in each round, and more if there is a
// third writer.
func (c *Client) Collide(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, conflict func(writer int, err error)) error {
	for range rounds {
		if err := c.collideOnce(ctx, resource, namespace, name, conflict); err != nil {
			return err
		}
	}
	return nil
}

// collideOnce lets neither of two writers write before both have read. So both send the same
// resourceVersion: the second one is refused, whichever it is.
func (c *Client) collideOnce(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, conflict func(writer int, err error)) error {
	// If one writer fails, the other one must not wait for it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	both := make(chan struct{})
	var writers sync.WaitGroup
	for writer := range 2 {
		writers.Go(func() {
			first := true
			err := c.Modify(ctx, resource, namespace, name, func(object *unstructured.Unstructured) error {
				if first {
					first = false
					// Without a buffer, one writer sends when the other one receives.
					select {
					case both <- struct{}{}:
					case <-both:
					case <-ctx.Done():
					}
				}
				return countUp(object)
			}, func(err error) { conflict(writer+1, err) })
			if err != nil {
				cancel(err)
			}
		})
	}
	writers.Wait()
	return context.Cause(ctx)
}

// countUp adds 1 to the annotation. Annotations are strings.
func countUp(object *unstructured.Unstructured) error {
	count, err := countOf(object)
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(object.Object, strconv.Itoa(count+1), "metadata", "annotations", counter)
}

func countOf(object *unstructured.Unstructured) (int, error) {
	text, found, err := unstructured.NestedString(object.Object, "metadata", "annotations", counter)
	if !found || err != nil {
		return 0, err
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("the annotation %s is %q and no number: kubectl annotate … %s- removes it", counter, text, counter)
	}
	return count, nil
}

func (c *Client) count(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (int, error) {
	object, err := c.Get(ctx, resource, namespace, name)
	if err != nil {
		return 0, err
	}
	return countOf(object)
}
