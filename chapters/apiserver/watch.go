package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

const (
	// bookmarkPeriod is how often a watcher learns the revision. From an old one it could not go on.
	bookmarkPeriod = time.Minute
	// A watch ends after minWatch to twice of it, so that not all come back at the same time.
	minWatch = 30 * time.Minute
)

// watcher is one watch. It has no queue: it reads an event from the storage when the client has taken
// the last one. A slow one is told 410 when its next event is forgotten, or cut off when a write does
// not end.
type watcher struct {
	*request
	options  *internalversion.ListOptions
	answer   *http.ResponseController
	patience time.Duration
	lines    io.Writer
}

// watch answers with one event a line, until the client goes, the time is over, or the server ends.
func (s *server) watch(w http.ResponseWriter, r *request) error {
	options, wanted, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision, err := s.watchStart(options, wanted)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), watchTime(options.TimeoutSeconds))
	defer cancel()
	v := &watcher{request: r, options: options, answer: http.NewResponseController(w), patience: s.patience, lines: w}
	// Nothing more is read. Each write has a deadline of its own.
	if err := v.answer.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusOK)
	if err := v.begin(objects, revision); err == nil {
		v.follow(ctx, s, revision)
	}
	return nil
}

// watchTime is how long a watch goes on. A client may want less.
func watchTime(seconds *int64) time.Duration {
	timeout := minWatch + rand.N(minWatch)
	if wanted := ptr.Deref(seconds, 0); wanted > 0 && wanted < int64(timeout.Seconds()) {
		return time.Duration(wanted) * time.Second
	}
	return timeout
}

// watchStart returns what a watch shows first, and where it goes on.
func (s *server) watchStart(options *internalversion.ListOptions, wanted int64) ([]*topping, int64, error) {
	if wanted > 0 && !ptr.Deref(options.SendInitialEvents, false) {
		_, _, err := s.storage.next(wanted)
		return nil, wanted, err
	}
	// That is also what a client gets that says nothing.
	objects, revision := s.storage.list()
	return objects, revision, notYet(wanted, revision)
}

// begin sends what is there already. A client that asked for it is told where that ends, or an informer
// would wait for ever. All has one deadline, since it is kept until it is sent.
func (v *watcher) begin(objects []*topping, revision int64) error {
	return v.within(func() error {
		for _, t := range objects {
			if err := v.event(&event{after: t}); err != nil {
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
		event, changed, err := s.storage.next(revision)
		if err != nil {
			// Too slow. It lists again.
			_ = v.within(func() error { return v.write(line(watch.Error, statusOf(err))) })
			return
		}
		if event != nil {
			if v.within(func() error { return v.event(event) }) != nil {
				return
			}
			revision = event.revision
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

// event sends what a write means to this watcher: for a selector, an object comes and goes with its
// labels.
func (v *watcher) event(event *event) error {
	had := event.before != nil && matches(v.options, event.before)
	has := event.after != nil && matches(v.options, event.after)
	what := watch.Modified
	switch {
	case !had && !has:
		return nil
	case !had:
		what = watch.Added
	case !has:
		what = watch.Deleted
	}
	// Encoding costs as much as the write: once for all watchers that show the event like this one.
	return v.write(event.line(fmt.Sprint(what, v.partial), func() ([]byte, error) {
		shown := event.after
		if what == watch.Deleted {
			// As it was last, with the revision in which it went: a client goes on from there.
			shown = deepCopy(event.before)
			shown.ResourceVersion = strconv.FormatInt(event.revision, 10)
		}
		return line(what, v.represent(shown))
	}))
}

func (v *watcher) bookmark(revision int64, annotations map[string]string) error {
	mark := &metav1.PartialObjectMetadata{TypeMeta: v.typeMeta("")}
	mark.ResourceVersion, mark.Annotations = strconv.FormatInt(revision, 10), annotations
	return v.write(line(watch.Bookmark, mark))
}

func (v *watcher) write(line []byte, err error) error {
	if err == nil {
		_, err = v.lines.Write(line)
	}
	return err
}

func line(what watch.EventType, shown any) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"type": what, "object": shown})
	return append(text, '\n'), err
}

// within gives the client some time to take what write writes. Until the next event it has more.
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
