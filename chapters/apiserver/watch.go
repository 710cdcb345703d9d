package main

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"example.com/byhand/chapters/apiserver/storage"
)

const (
	// bookmarkPeriod is how often a watcher learns the revision, if nothing changes. A
	// watcher that goes on at an old one may be told 410, and has to list again.
	bookmarkPeriod = time.Minute
	// A watch ends after minWatch to twice of it, unless the client wants less. Without
	// the chance, all watchers would come back at the same time.
	minWatch = 30 * time.Minute
)

// watcher is one watch. It has no queue of events: it reads them from the storage when the
// client has taken the last one, one at a time. So one that does not read costs no memory. It is
// told 410 when its next event is forgotten, or is cut off when a write does not end.
type watcher struct {
	*request
	partial bool
	options *internalversion.ListOptions
	answer  *http.ResponseController
	// patience is how long the client may take to read one event.
	patience time.Duration
	lines    io.Writer
}

// watch answers with one event a line, until the client goes, the time is over, or the
// server ends, which ends the context of each request.
func (s *server) watch(w *answerWriter, r *request) error {
	partial, err := negotiate(r)
	if err != nil {
		return err
	}
	options, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision, err := s.watchStart(r, options)
	if err != nil {
		return err
	}
	controller := http.NewResponseController(w.ResponseWriter)
	// Nothing more is read. Each write has a deadline of its own.
	if err := controller.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), watchTime(options.TimeoutSeconds))
	defer cancel()
	v := &watcher{request: r, partial: partial, options: options, answer: controller, patience: s.patience, lines: w}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if err := v.begin(objects, revision); err == nil {
		v.follow(ctx, s, revision)
	}
	return nil
}

// watchTime is how long a watch goes on. A client may want less, and not more.
func watchTime(seconds *int64) time.Duration {
	timeout := minWatch + rand.N(minWatch)
	if wanted := ptr.Deref(seconds, 0); wanted > 0 && wanted < int64(timeout.Seconds()) {
		return time.Duration(wanted) * time.Second
	}
	return timeout
}

// watchStart returns what a watch shows first, and the revision after which it goes on.
func (s *server) watchStart(r *request, options *internalversion.ListOptions) ([]object, int64, error) {
	wanted, err := parseRevision(options.ResourceVersion)
	if err != nil {
		return nil, 0, err
	}
	if wanted > 0 && !ptr.Deref(options.SendInitialEvents, false) {
		_, _, err := s.storage.Next(wanted)
		return nil, wanted, err
	}
	// Everything as it is now, if now is new enough. That is also what a client gets that
	// says nothing.
	objects, revision, err := s.now(r, options)
	if !ptr.Deref(options.SendInitialEvents, true) {
		objects = nil
	}
	return objects, revision, err
}

// begin sends what is there already. A client that asked for it is told where that ends: to
// leave this out would let an informer wait for ever. All of it has one deadline, since it is
// kept in memory until it is sent, also what is deleted meanwhile.
func (v *watcher) begin(objects []object, revision int64) error {
	return v.within(func() error {
		for _, object := range objects {
			if !matches(v.options, object) {
				continue
			}
			if err := v.send(watch.Added, v.represent(v.partial, object)); err != nil {
				return err
			}
		}
		if ptr.Deref(v.options.SendInitialEvents, false) && v.options.AllowWatchBookmarks {
			return v.bookmark(revision, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
		return nil
	})
}

// follow sends each event after a revision.
func (v *watcher) follow(ctx context.Context, s *server, revision int64) {
	bookmarks := time.NewTicker(bookmarkPeriod)
	defer bookmarks.Stop()
	for ctx.Err() == nil {
		event, changed, err := s.storage.Next(revision)
		if err != nil {
			// The client was too slow. It lists again.
			_ = v.within(func() error { return v.send(watch.Error, statusOf(err)) })
			return
		}
		if event != nil {
			if v.within(func() error { return v.event(event) }) != nil {
				return
			}
			revision = event.Revision
			continue
		}
		select {
		case <-changed:
		case <-bookmarks.C:
			if v.options.AllowWatchBookmarks && v.within(func() error { return v.bookmark(revision, nil) }) != nil {
				return
			}
		case <-ctx.Done():
		}
	}
}

// event sends what a write means to this watcher. For a selector, an object comes and goes
// with its labels.
func (v *watcher) event(event *storage.Event) error {
	if event.Key.Resource != v.kind.resource || v.namespace != "" && event.Key.Namespace != v.namespace {
		return nil
	}
	had := event.Before != nil && matches(v.options, event.Before)
	has := event.After != nil && matches(v.options, event.After)
	what := watch.Modified
	switch {
	case !had && !has:
		return nil
	case !had:
		what = watch.Added
	case !has:
		what = watch.Deleted
	}
	// Encoding costs as much as the write, so it is done once for all watchers that show the event
	// like this one.
	line, err := event.Form(form{what, v.version, v.partial}, func() ([]byte, error) {
		object := event.After
		if what == watch.Deleted {
			// What it was like last, with the revision in which it went: a client goes on
			// from there.
			object = deepCopy(event.Before)
			object.SetResourceVersion(strconv.FormatInt(event.Revision, 10))
		}
		return line(what, v.represent(v.partial, object))
	})
	if err != nil {
		return err
	}
	_, err = v.lines.Write(line)
	return err
}

// form is how an event is shown. All of them together are no more than twelve.
type form struct {
	what    watch.EventType
	version schema.GroupVersion
	partial bool
}

// bookmark tells the client how far it is.
func (v *watcher) bookmark(revision int64, annotations map[string]string) error {
	mark := &metav1.PartialObjectMetadata{TypeMeta: typeMeta(v.kind.name, v.version)}
	if v.partial {
		mark.TypeMeta = typeMeta(metadata, metav1.SchemeGroupVersion)
	}
	mark.ResourceVersion, mark.Annotations = strconv.FormatInt(revision, 10), annotations
	return v.send(watch.Bookmark, mark)
}

// send writes one event.
func (v *watcher) send(what watch.EventType, shown any) error {
	line, err := line(what, shown)
	if err != nil {
		return err
	}
	_, err = v.lines.Write(line)
	return err
}

// line is an event as a watch sends it, a line of JSON.
func line(what watch.EventType, shown any) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"type": what, "object": shown})
	return append(text, '\n'), err
}

// within lets the client take what write writes, and no longer than patience. Until the next
// event there is no deadline: minutes may pass.
func (v *watcher) within(write func() error) error {
	if err := v.answer.SetWriteDeadline(time.Now().Add(v.patience)); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	if err := v.answer.Flush(); err != nil {
		return err
	}
	return v.answer.SetWriteDeadline(time.Time{})
}
