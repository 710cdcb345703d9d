package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/byhand/chapters/apiserver/storage"
)

// get answers with one object. What is stored is always the newest, so a resourceVersion
// that is asked for is there, or has not been yet.
func (s *server) get(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	wanted, err := parseRevision(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		return err
	}
	found, revision := s.storage.Get(r.key())
	if err := storage.NotYet(wanted, revision); err != nil {
		return err
	}
	if found == nil {
		return apierrors.NewNotFound(r.groupResource(), r.name)
	}
	return w.send(http.StatusOK, r.represent(as, found))
}

// list answers with the objects that match the selectors, limit at a time. Each page shows
// the same moment, or there would be objects on two pages, or on none.
func (s *server) list(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	options, err := listOptions(r)
	if err != nil {
		return err
	}
	wanted, after, err := startOf(options)
	if err != nil {
		return err
	}
	var at int64 // 0: now
	if options.Continue != "" || options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		at = wanted
	}
	objects, revision, err := s.storage.List(r.kind.resource, r.namespace, at)
	if err == nil {
		err = storage.NotYet(wanted, revision)
	}
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o object) bool {
		// A long selector takes long: look at nothing more when the time is over.
		return r.Context().Err() != nil || slices.Compare(place(o), after) <= 0 || !matches(options, o)
	})
	if r.Context().Err() != nil {
		return apierrors.NewTimeoutError("the selector takes too long", 1)
	}
	about := listMeta(revision)
	if limit := options.Limit; limit > 0 && int64(len(objects)) > limit {
		about.RemainingItemCount = new(int64(len(objects)) - limit)
		objects = objects[:limit]
		about.Continue = fmt.Sprintf("%d/%s", revision, strings.Join(place(objects[limit-1]), "/"))
	}
	return r.sendList(w, as, objects, about)
}

// listOptions reads the query of a list or a watch.
func listOptions(r *request) (*internalversion.ListOptions, error) {
	options := &internalversion.ListOptions{}
	if err := readQuery(r.URL.Query(), options); err != nil {
		return nil, err
	}
	if options.FieldSelector != nil {
		if _, err := options.FieldSelector.Transform(runtime.DefaultMetaV1FieldSelectorConversion); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	return options, invalidOptions("ListOptions", validation.ValidateListOptions(options, true))
}

// readQuery reads the query into the options of a verb.
func readQuery(query url.Values, options runtime.Object) error {
	if err := metainternalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, options); err != nil {
		return badRequest("%v", err)
	}
	return nil
}

// invalidOptions makes an error of what is wrong with options, nil of nothing.
func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", errs)
}

func matches(options *internalversion.ListOptions, o object) bool {
	if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	names := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	return options.FieldSelector == nil || options.FieldSelector.Matches(names)
}

// place is what lists are ordered by.
func place(o object) []string { return []string{o.GetNamespace(), o.GetName()} }

// startOf returns the revision that a client wants, and the place of the last object that it
// has. Both are in continue, which only the server reads, REVISION/NAMESPACE/NAME; on the
// first page there is no such object.
func startOf(options *internalversion.ListOptions) (revision int64, after []string, err error) {
	if options.Continue == "" {
		revision, err = parseRevision(options.ResourceVersion)
		return revision, nil, err
	}
	parts := strings.Split(options.Continue, "/")
	if len(parts) == 3 {
		revision, err = parseRevision(parts[0])
	}
	if err != nil || revision == 0 {
		return 0, nil, badRequest("continue key is not valid")
	}
	return revision, parts[1:], nil
}

// parseRevision reads a resourceVersion. None is 0.
func parseRevision(text string) (int64, error) {
	revision, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
	if err != nil || revision < 0 {
		return 0, badRequest("resourceVersion %q is no number of this server", text)
	}
	return revision, nil
}

func listMeta(revision int64) metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)}
}
