package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
)

// An object may have several writers, and none of them locks it. Each writer reads it, changes
// what it read and sends it back with the resourceVersion that it read. If that is not the newest
// any more, the server refuses with 409 Conflict: another writer was first. This one then has to
// read again, since its change was made from what is no longer true. That is optimistic
// concurrency: of writers that collide one always succeeds, so all of them come to an end.
//
// What goes wrong with less: without the resourceVersion the change of the other one is
// lost, silently. With a retry that sends the same object again, each try is a Conflict.
// With a retry after other errors a change can be made twice: a PUT whose answer is lost
// may have been done.
//
// retry.RetryOnConflict of client-go repeats a function that reads, changes and writes; it gives up
// after a few tries. A controller of the core has no loop: its reconcile returns the error, and the
// queue brings the key back.

// counter is the annotation that both writers count up.
const counter = "byhand.example.com/count"

// rounds is how often each of the two writers counts up.
const rounds = 5

// collide prints each Conflict of two writers, and what they have come to. In each round both have
// read before either writes. So both send the same resourceVersion, and the second one is refused.
func (p *program) collide(ctx context.Context) error {
	resources, err := p.find(ctx, "update")
	if err != nil {
		return err
	}
	resource, namespace := resources[0].GVR, p.namespaceFor(resources[0])
	read := func() (*unstructured.Unstructured, error) {
		object, err := p.client.Get(ctx, resource, namespace, p.name)
		if err == nil && object.GetResourceVersion() == "" {
			err = errors.New("it has no resourceVersion, so an update would not see what others have written")
		}
		return object, err
	}
	first, err := read()
	if err != nil {
		return err
	}
	before, err := countOf(first)
	if err != nil {
		return err
	}
	results, conflicts, after := log.New(printable{p.stdout}, "", 0), 0, 0
	for range rounds {
		var both [2]*unstructured.Unstructured
		for writer := range both {
			if both[writer], err = read(); err != nil {
				return err
			}
		}
		for writer, object := range both {
			err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
				if object == nil {
					if object, err = read(); err != nil {
						return err
					}
				}
				if after, err = countUp(object); err != nil {
					return err
				}
				_, err = p.client.Update(ctx, resource, object)
				if apierrors.IsConflict(err) {
					conflicts++
					results.Printf("writer %d reads again: %v", writer+1, err)
					object = nil
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	results.Printf("%d updates, %d conflicts: %s went from %d to %d", 2*rounds, conflicts, counter, before, after)
	return nil
}

// countUp adds 1 to the annotation, and returns what it is then.
func countUp(object *unstructured.Unstructured) (int, error) {
	count, err := countOf(object)
	if err != nil {
		return 0, err
	}
	count++
	return count, unstructured.SetNestedField(object.Object, strconv.Itoa(count), "metadata", "annotations", counter)
}

// countOf reads the annotation. Annotations are strings.
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
