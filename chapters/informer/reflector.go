package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// The Reflector. Without it a program lists, then watches "from now on"
// (TestStories/resume and TestStories/expired):
//
//	0.000 s  LIST. The response has version 10.
//	0.001 s  A user deletes a Foo: version 11.
//	0.002 s  WATCH without a version. It begins with the existing objects, and sends nothing
//	         about that Foo: the program keeps it forever.
//	30 min   The watch ends, like every watch. To be safe the program relists: all 10,000
//	         Foos, twice an hour, in every process.
//	1 h      It watches from the list's version, as it should. But it could not reach the server
//	         for ten minutes, and the server no longer has that version: 410 Gone. The program
//	         exits, or repeats the request without a pause, forever.
//
// So the Reflector keeps the last version it received. A watch resumes from there, and only a
// version that the server no longer has costs a list, after a pause.

// A pause is one to two times this long, so that clients do not return together. The duration doubles up
// to the cap, and resets after a watch of a minute.
var pause = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Cap: 30 * time.Second, Steps: 100}

// The server ends each watch after one to two times this long. (client-go's pings detect a broken
// connection.)
const watchTimeout = 5 * time.Minute

// Reflector lists and watches one resource, and puts deltas into a FIFO.
type Reflector struct {
	Resource  string         // for the log
	Example   runtime.Object // its Go type is the objects' type
	ListWatch cache.ListerWatcherWithContext
	FIFO      fifo

	listed  bool         // the FIFO has a list, and all changes from then to version
	version string       // the last version received; "" if none, or if the server lost it
	pause   wait.Backoff // the next pause
}

// Run lists and watches until ctx is done. Call it once.
func (r *Reflector) Run(ctx context.Context) {
	for r.pause = pause; ctx.Err() == nil; {
		began := time.Now()
		heard, err := r.watch(ctx)
		took := time.Since(began)
		klog.V(1).Infof("the watch of %s has ended after %d events: %v", r.Resource, heard, err)
		switch {
		case apierrors.IsTooManyRequests(err) || utilnet.IsConnectionRefused(err):
			r.sleep(ctx) // the version is still valid, and a list would add load
		case r.listed && err == nil && (heard > 0 || took > time.Second):
			// A normal end. A watch that ended at once without events would do so again.
		case r.listed:
			r.listed = false
			r.sleep(ctx)
		case isUnavailable(err) && r.version != "":
			r.version = "" // request the newest, at once
		default:
			// An old server without streaming lists, or a stream that broke.
			if err := r.list(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Failed to list, retrying", "resource", r.Resource)
				r.sleep(ctx)
			}
		}
	}
}

// watch passes on one watch's events, and returns their number. If there is no list yet, it requests a
// streaming list, whose objects are kept separately until the bookmark.
func (r *Reflector) watch(ctx context.Context) (heard int, err error) {
	options := metav1.ListOptions{ResourceVersion: r.version, AllowWatchBookmarks: true,
		TimeoutSeconds: new(int64((watchTimeout + rand.N(watchTimeout)).Seconds()))}
	objects := NewStore(nil)
	var into cache.ReflectorStore = r.FIFO
	if !r.listed {
		options.SendInitialEvents, options.ResourceVersionMatch = new(true), metav1.ResourceVersionMatchNotOlderThan
		into = objects
	}
	stream, err := r.ListWatch.WatchWithContext(ctx, options)
	if err != nil {
		return 0, err
	}
	opened := time.Now() // the request may have taken minutes: client-go's client retries
	defer func() {
		stream.Stop()
		if time.Since(opened) > time.Minute {
			r.pause = pause
		}
	}()
	for event := range stream.ResultChan() {
		// An ERROR has a Status: the watch is over.
		if event.Type == watch.Error || reflect.TypeOf(event.Object) != reflect.TypeOf(r.Example) {
			return heard, apierrors.FromObject(event.Object)
		}
		heard++
		object := event.Object.(metav1.Object)
		version := cmp.Or(object.GetResourceVersion(), r.version) // "" would mean "from now on"
		klog.V(1).Infof("%s %s %s, version %s", event.Type, r.Resource, cache.MetaObjectToName(object), version)
		switch event.Type {
		case watch.Added, watch.Modified: // the store decides which of the two a handler gets
			_ = into.Update(event.Object)
		case watch.Deleted:
			_ = into.Delete(event.Object)
		case watch.Bookmark:
			if r.listed {
				_ = r.FIFO.Bookmark(version)
			} else if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				r.listed, into = true, r.FIFO
				_ = r.FIFO.Replace(objects.List(), version)
			}
		}
		// A watch without a version begins with an ADDED event for each object, unordered.
		if r.listed && (r.version != "" || event.Type != watch.Added) {
			r.version = version
		}
	}
	return heard, nil
}

// list gets all objects, no older than the last version received: a server may lag behind.
func (r *Reflector) list(ctx context.Context) error {
	list, err := r.ListWatch.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: r.version})
	switch {
	case isUnavailable(err) && r.version != "":
		r.version = ""
		return r.list(ctx)
	case err != nil:
		return err
	}
	objects := NewStore(nil)
	if err := meta.EachListItem(list, func(object runtime.Object) error { return objects.Add(object) }); err != nil {
		return err // not a list: as an empty list it would delete all objects
	}
	accessor, _ := meta.ListAccessor(list)
	r.listed, r.version = true, accessor.GetResourceVersion()
	return r.FIFO.Replace(objects.List(), r.version)
}

// isUnavailable reports that the server no longer has this version (410), or does not have it yet.
// A watch gets no error for the latter (TestStories/restored_from_a_backup).
func isUnavailable(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

func (r *Reflector) sleep(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(r.pause.Step()):
	}
}
