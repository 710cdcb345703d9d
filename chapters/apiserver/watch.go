package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
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
// client has taken the last one. So one that does not read costs no memory. It is told 410
// when its next event is forgotten, or is cut off when a write does not end.
type watcher struct {
	*request
	as      form
	options *internalversion.ListOptions
	answer  http.ResponseWriter
	// hasColumns says that the client knows the columns of a Table.
	hasColumns bool
}

// watch answers with one event a line, until the client goes, the time is over, or the
// server ends.
func (s *server) watch(w *answerWriter, r *request) error {
	as, err := negotiate(r)
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
	// Each write has its own deadline, and what the client sends is over.
	controller := http.NewResponseController(w.ResponseWriter)
	if err := controller.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), watchTimeout(options))
	defer cancel()
	v := &watcher{request: r, as: as, options: options, answer: w.ResponseWriter}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if err := v.begin(objects, revision); err == nil {
		v.follow(ctx, s, revision)
	}
	return nil
}

// watchStart returns what a watch shows first, and the revision after which it goes on.
func (s *server) watchStart(r *request, options *internalversion.ListOptions) ([]object, int64, error) {
	wanted, err := parseRevision(options.ResourceVersion)
	if err != nil {
		return nil, 0, err
	}
	send := options.SendInitialEvents
	switch {
	case send != nil && *send, send == nil && wanted == 0:
		// Everything as it is now, if now is new enough.
		objects, revision, err := s.storage.list(r.kind.resource, r.namespace, 0)
		if err == nil && revision < wanted {
			err = tooLarge(wanted, revision)
		}
		return objects, revision, err
	case wanted == 0:
		_, revision, err := s.storage.list(r.kind.resource, r.namespace, 0)
		return nil, revision, err
	default:
		_, _, err := s.storage.since(wanted)
		return nil, wanted, err
	}
}

func watchTimeout(options *internalversion.ListOptions) time.Duration {
	if seconds := options.TimeoutSeconds; seconds != nil && *seconds > 0 {
		return time.Duration(*seconds) * time.Second
	}
	return minWatch + rand.N(minWatch)
}

// begin sends what is there already. A client that asked for it is told where that ends: to
// leave this out would let an informer wait for ever.
func (v *watcher) begin(objects []object, revision int64) error {
	for _, object := range objects {
		if !matches(v.options, object) {
			continue
		}
		if err := v.send(watch.Added, v.show(object)); err != nil {
			return err
		}
	}
	if send := v.options.SendInitialEvents; send != nil && *send && v.options.AllowWatchBookmarks {
		return v.bookmark(revision, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return v.flush()
}

// follow sends each event after a revision.
func (v *watcher) follow(ctx context.Context, s *server, revision int64) {
	bookmarks := time.NewTicker(bookmarkPeriod)
	defer bookmarks.Stop()
	for {
		events, changed, err := s.storage.since(revision)
		if err != nil {
			// The client was too slow. It lists again.
			_ = v.send(watch.Error, statusOf(err))
			return
		}
		for _, event := range events {
			if err := v.event(event); err != nil {
				return
			}
			revision = event.revision
		}
		select {
		case <-changed:
		case <-bookmarks.C:
			if v.options.AllowWatchBookmarks && v.bookmark(revision, nil) != nil {
				return
			}
		case <-s.ending:
			return
		case <-ctx.Done():
			return
		}
	}
}

// event sends what a write means to this watcher. For a selector, an object comes and goes
// with its labels.
func (v *watcher) event(event event) error {
	if event.key.resource != v.kind.resource || v.namespace != "" && event.key.namespace != v.namespace {
		return nil
	}
	had := event.before != nil && matches(v.options, event.before)
	has := event.after != nil && matches(v.options, event.after)
	switch {
	case had && has:
		return v.send(watch.Modified, v.show(event.after))
	case has:
		return v.send(watch.Added, v.show(event.after))
	case had:
		// What it was like last, with the revision in which it went: a client goes on
		// from there.
		last := copyOf(event.before)
		last.SetResourceVersion(strconv.FormatInt(event.revision, 10))
		return v.send(watch.Deleted, v.show(last))
	}
	return nil
}

// show represents an object. A Table has its columns once.
func (v *watcher) show(o object) any {
	shown := v.represent(v.as, o)
	if table, ok := shown.(*metav1.Table); ok {
		if v.hasColumns {
			table.ColumnDefinitions = nil
		}
		v.hasColumns = true
	}
	return shown
}

// bookmark tells the client how far it is.
func (v *watcher) bookmark(revision int64, annotations map[string]string) error {
	if v.as == table {
		return v.send(watch.Bookmark, v.table(nil, listMeta(revision)))
	}
	mark := &metav1.PartialObjectMetadata{TypeMeta: typeMeta(v.kind.name, v.kind.gvk(v.version).GroupVersion())}
	if v.as == metadata {
		mark.TypeMeta = typeMeta(string(metadata), metav1.SchemeGroupVersion)
	}
	mark.ResourceVersion, mark.Annotations = strconv.FormatInt(revision, 10), annotations
	return v.send(watch.Bookmark, mark)
}

// send writes one event. The deadline is for this write alone: between two of them, minutes
// may pass.
func (v *watcher) send(kind watch.EventType, shown any) error {
	line, err := json.Marshal(map[string]any{"type": kind, "object": shown})
	if err != nil {
		return err
	}
	controller := http.NewResponseController(v.answer)
	if err := controller.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := v.answer.Write(append(line, '\n')); err != nil {
		return err
	}
	return v.flush()
}

// flush sends what was written, and ends its deadline.
func (v *watcher) flush() error {
	controller := http.NewResponseController(v.answer)
	if err := controller.Flush(); err != nil {
		return err
	}
	return controller.SetWriteDeadline(time.Time{})
}
