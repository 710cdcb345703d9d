package testkit

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

type selection struct {
	prefix, suffix string // of their paths, the suffix without the name
	labels         labels.Selector
	fields         fields.Selector
	selectable     []string
}

func (x *request) selection() (selected selection, err error) {
	selected.prefix, selected.suffix, selected.selectable = x.Path(x.Namespace, ""), "/"+x.Plural+"/", x.Selectable
	if x.Namespace == "" {
		selected.prefix = strings.TrimSuffix(selected.prefix, x.Plural)
	}
	if selected.labels, err = labels.Parse(x.query.Get("labelSelector")); err != nil {
		return selected, err
	}
	selected.fields, err = fields.ParseSelector(x.query.Get("fieldSelector"))
	for _, wanted := range selected.fields.Requirements() {
		if wanted.Field != "metadata.name" && wanted.Field != "metadata.namespace" && !slices.Contains(x.Selectable, wanted.Field) {
			err = fmt.Errorf("field label not supported: %s", wanted.Field)
		}
	}
	return selected, err
}

func (s selection) has(path string, object *unstructured.Unstructured) bool {
	if object == nil || !strings.HasPrefix(path, s.prefix) || !strings.Contains(path, s.suffix) || !s.labels.Matches(labels.Set(object.GetLabels())) {
		return false
	}
	values := fields.Set{"metadata.name": object.GetName(), "metadata.namespace": object.GetNamespace()}
	for _, field := range s.selectable {
		if value, found, _ := unstructured.NestedFieldNoCopy(object.Object, fieldsOf(field)...); found {
			values[field] = fmt.Sprint(value)
		}
	}
	return s.fields.Matches(values)
}

// of returns the selected objects in the order of their paths, from a path on.
func (s selection) of(objects map[string]*unstructured.Unstructured, from string) (paths []string) {
	for path, object := range objects {
		if path >= from && s.has(path, object) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// list answers a LIST, or one page of it. A page's token has the version of the first page and the path where
// the next page begins.
func (s *APIServer) list(x *request) (*unstructured.UnstructuredList, error) {
	selected, err := x.selection()
	if err != nil {
		return nil, err
	}
	limit, _ := strconv.Atoi(x.query.Get("limit"))
	if x.query.Get("resourceVersion") == "0" {
		limit = 0 // as a real server does, which has all of it in memory
	}
	wanted, _ := strconv.Atoi(x.query.Get("resourceVersion"))
	version, from := s.version, ""
	if token := x.query.Get("continue"); token != "" {
		text, _ := base64.RawURLEncoding.DecodeString(token)
		if _, err := fmt.Sscan(string(text), &version, &from); err != nil {
			return nil, fmt.Errorf("continue key is not valid: %w", err)
		}
	} else if wanted > s.version {
		return nil, tooLarge(wanted, s.version)
	} else if x.query.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact) || wanted > 0 && limit > 0 && x.query.Get("resourceVersionMatch") == "" {
		version = wanted
	}
	objects, known := s.at(version)
	if !known {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("The provided continue parameter or resourceVersion is too old: version %d, the oldest is %d.", version, s.oldest))
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": x.GroupVersion().String(), "kind": x.Kind + "List"}}
	list.SetResourceVersion(strconv.Itoa(version))
	paths := selected.of(objects, from)
	if limit > 0 && len(paths) > limit {
		list.SetContinue(base64.RawURLEncoding.EncodeToString(fmt.Append(nil, version, " ", paths[limit])))
		if selected.labels.Empty() && selected.fields.Empty() {
			list.SetRemainingItemCount(new(int64(len(paths) - limit)))
		}
		paths = paths[:limit]
	}
	list.Items = []unstructured.Unstructured{}
	for _, path := range paths {
		list.Items = append(list.Items, *objects[path])
	}
	return list, nil
}

func tooLarge(wanted, newest int) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, newest), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// watch sends the stored objects, if the client asks for them, and then each change. It ends when the client
// disconnects, its timeout expires, or the next change is no longer known.
func (s *APIServer) watch(w http.ResponseWriter, x *request) {
	selected, err := x.selection()
	if err != nil {
		WriteError(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	ctx := x.Context()
	if seconds, _ := strconv.Atoi(x.query.Get("timeoutSeconds")); seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moved.Broadcast()
	})()
	stream := stream{shown: x.shown, lines: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusOK)
	_ = stream.flush()

	s.mu.Lock()
	version, objects := s.version, maps.Clone(s.objects)
	s.mu.Unlock()
	wanted, _ := strconv.Atoi(x.query.Get("resourceVersion"))
	if initial := x.query.Get("sendInitialEvents") == "true"; initial || wanted == 0 {
		for _, path := range selected.of(objects, "") {
			stream.send(watch.Added, objects[path])
		}
		if initial && x.query.Get("allowWatchBookmarks") == "true" {
			stream.send(watch.Bookmark, &unstructured.Unstructured{Object: map[string]any{"apiVersion": x.GroupVersion().String(), "kind": x.Kind, "metadata": map[string]any{
				"resourceVersion": strconv.Itoa(version), "annotations": map[string]any{metav1.InitialEventsAnnotationKey: "true"}}}})
		}
	} else {
		version = wanted
	}
	for stream.err == nil && ctx.Err() == nil {
		changes, oldest := s.next(ctx, version)
		if version < oldest {
			status := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, oldest)).Status()
			status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			stream.send(watch.Error, status)
			return
		}
		for _, c := range changes {
			stream.sendChange(selected, c)
			version = c.Version
		}
	}
}

// next waits for changes after a version. It also returns the oldest version whose changes are known.
func (s *APIServer) next(ctx context.Context, version int) (changes []Change, oldest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil && version >= s.oldest && len(changes) == 0 {
		if changes = s.after(version); len(changes) == 0 {
			s.moved.Wait()
		}
	}
	return changes, s.oldest
}

type stream struct {
	shown func(object any) any
	lines *json.Encoder
	flush func() error
	err   error // The client is gone.
}

func (s *stream) send(event watch.EventType, object any) {
	if s.err == nil {
		s.err = s.lines.Encode(map[string]any{"type": event, "object": s.shown(object)})
	}
	if s.err == nil {
		s.err = s.flush()
	}
}

// sendChange sends a change as seen by a selection: an object that leaves it is deleted.
func (s *stream) sendChange(selected selection, c Change) {
	was, is := selected.has(c.Path, c.Before), c.Type != watch.Deleted && selected.has(c.Path, c.Object)
	switch {
	case !was && is:
		s.send(watch.Added, c.Object)
	case was && is:
		s.send(watch.Modified, c.Object)
	case was:
		last := c.Before.DeepCopy()
		last.SetResourceVersion(c.Object.GetResourceVersion())
		s.send(watch.Deleted, last)
	}
}
