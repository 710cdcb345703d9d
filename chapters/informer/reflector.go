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
//	0.000 s  LIST. The answer is version 10.
//	0.001 s  A user deletes a Foo: version 11.
//	0.002 s  WATCH without a version. It begins with what there is, and says nothing of that
//	         Foo: the program keeps it for ever.
//	30 min   The watch ends, as every one does. To be safe the program lists again: all
//	         10,000 Foos, twice an hour, in every process.
//	1 h      It watches from the version of the list, which is right. But it could not reach the
//	         server for ten minutes, which has forgotten that version: 410 Gone. The program
//	         ends, or asks the same again at once, for ever.
//
// So the version of what was heard last is kept. A watch goes on from there, and only what
// the server no longer knows costs a list, after a pause.

// A pause is one to two times this long, so that not all come back together. It doubles up to its cap,
// and begins anew after a watch of a minute.
var pause = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Cap: 30 * time.Second, Steps: 100}

// The server ends each watch after one to two times this long. (A broken connection is found out by
// client-go's pings.)
const watchTimeout = 5 * time.Minute

// Reflector lists and watches one resource, and puts what it hears into a FIFO.
type Reflector struct {
	Resource  string         // for the log
	Example   runtime.Object // Its Go type is that of all objects.
	ListWatch cache.ListerWatcherWithContext
	FIFO      fifo

	listed  bool         // The FIFO has a list, and all that happened from then to version.
	version string       // of what was heard last; "": nothing, or the server does not have it
	pause   wait.Backoff // the next one
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
			r.sleep(ctx) // The version is still good, and a list would add to the load.
		case r.listed && err == nil && (heard > 0 || took > time.Second):
			// As every watch ends. One that ended at once and said nothing would do so again.
		case r.listed:
			r.listed = false
			r.sleep(ctx)
		case isUnavailable(err) && r.version != "":
			r.version = "" // Whatever is newest, at once.
		default:
			// An old server, one that streams no list, or a stream that broke.
			if err := r.list(ctx); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "Failed to list, trying again", "resource", r.Resource)
				r.sleep(ctx)
			}
		}
	}
}

// watch passes on what one watch says, and returns how many events that was. If there is no list yet, it
// asks for a streaming list, whose objects are kept apart until the bookmark.
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
	opened := time.Now() // The request itself may have taken minutes: client-go's client repeats it.
	defer func() {
		stream.Stop()
		if time.Since(opened) > time.Minute {
			r.pause = pause
		}
	}()
	for event := range stream.ResultChan() {
		// An ERROR holds a Status: the watch is over.
		if event.Type == watch.Error || reflect.TypeOf(event.Object) != reflect.TypeOf(r.Example) {
			return heard, apierrors.FromObject(event.Object)
		}
		heard++
		object := event.Object.(metav1.Object)
		version := cmp.Or(object.GetResourceVersion(), r.version) // "" would be "from now on".
		klog.V(1).Infof("%s %s %s, version %s", event.Type, r.Resource, cache.MetaObjectToName(object), version)
		switch event.Type {
		case watch.Added, watch.Modified: // Which of the two it is for a handler, the store knows.
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
		// A watch without a version begins with an ADDED for each object, in no order.
		if r.listed && (r.version != "" || event.Type != watch.Added) {
			r.version = version
		}
	}
	return heard, nil
}

// list gets all objects, no older than what was heard before: a server may lag behind.
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
		return err // It is no list. As an empty one it would be the end of all objects.
	}
	accessor, _ := meta.ListAccessor(list)
	r.listed, r.version = true, accessor.GetResourceVersion()
	return r.FIFO.Replace(objects.List(), r.version)
}

// isUnavailable: the server no longer has this version (410), or does not have it yet, which a watch
// is not told (TestStories/restored_from_a_backup).
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
