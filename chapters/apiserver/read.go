package main

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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
	partial, err := negotiate(r)
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
		return apierrors.NewNotFound(r.kind.groupResource(), r.name)
	}
	return w.send(http.StatusOK, r.represent(partial, found))
}

// list answers with the objects that match the selectors, all of them as they are now. The
// limit of a client is a wish, so there are no pages, and no moment but this one.
func (s *server) list(w *answerWriter, r *request) error {
	partial, err := negotiate(r)
	if err != nil {
		return err
	}
	options, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision, err := s.now(r, options)
	if err != nil {
		return err
	}
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && options.ResourceVersion != strconv.FormatInt(revision, 10) {
		return apierrors.NewResourceExpired("lists of the past are not kept")
	}
	objects = slices.DeleteFunc(objects, func(o object) bool {
		// A long selector takes long: look at nothing more when the time is over.
		return r.Context().Err() != nil || !matches(options, o)
	})
	if r.Context().Err() != nil {
		return apierrors.NewTimeoutError("the selector takes too long", 1)
	}
	r.sendList(w, partial, objects, revision)
	return nil
}

// now returns what there is, if that is as new as the client wants.
func (s *server) now(r *request, options *internalversion.ListOptions) ([]object, int64, error) {
	wanted, err := parseRevision(options.ResourceVersion)
	if err != nil {
		return nil, 0, err
	}
	if options.Continue != "" {
		return nil, 0, badRequest("continue key is not valid: there are no pages here")
	}
	objects, revision := s.storage.List(r.kind.resource, r.namespace)
	return objects, revision, storage.NotYet(wanted, revision)
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

// parseRevision reads a resourceVersion. None is 0.
func parseRevision(text string) (int64, error) {
	revision, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
	if err != nil || revision < 0 {
		return 0, badRequest("resourceVersion %q is no number of this server", text)
	}
	return revision, nil
}
