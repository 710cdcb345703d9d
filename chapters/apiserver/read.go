package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

const metadata = "PartialObjectMetadata"

func (s *server) get(w http.ResponseWriter, r *request) error {
	found := s.storage.get(r.name)
	if found == nil {
		return apierrors.NewNotFound(resource, r.name)
	}
	return send(w, http.StatusOK, r.represent(found))
}

// list answers with the objects that match the selectors.
func (s *server) list(w http.ResponseWriter, r *request) error {
	options, wanted, err := listOptions(r)
	if err != nil {
		return err
	}
	objects, revision := s.storage.list()
	if err := notYet(wanted, revision); err != nil {
		return err
	}
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && options.ResourceVersion != strconv.FormatInt(revision, 10) {
		return apierrors.NewResourceExpired("lists of the past are not kept")
	}
	objects = slices.DeleteFunc(objects, func(t *topping) bool {
		// A long selector takes long.
		return r.Context().Err() != nil || !matches(options, t)
	})
	if r.Context().Err() != nil {
		return apierrors.NewTimeoutError("the selector takes too long", 1)
	}
	// One after the other: as one text, all would be kept in memory until the client has read it.
	list, separator := r.typeMeta("List"), ""
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"},"items":[`, list.Kind, list.APIVersion, revision)
	for _, t := range objects {
		fmt.Fprint(w, separator)
		if json.NewEncoder(w).Encode(r.represent(t)) != nil {
			return nil // The client is gone.
		}
		separator = ","
	}
	fmt.Fprint(w, "]}")
	return nil
}

// wantsMetadata says whether a client asks for metadata alone, as the garbage collector does.
func wantsMetadata(r *http.Request) bool {
	return strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "as="+metadata)
}

// represent shows an object, also in a list or an event.
func (r *request) represent(t *topping) runtime.Object {
	if !r.partial {
		return t
	}
	p := meta.AsPartialObjectMetadata(t)
	p.TypeMeta = r.typeMeta("")
	return p
}

// typeMeta is the type of what is shown, or with the suffix List of a list.
func (r *request) typeMeta(suffix string) metav1.TypeMeta {
	if r.partial {
		return metav1.TypeMeta{Kind: metadata + suffix, APIVersion: metav1.SchemeGroupVersion.String()}
	}
	return metav1.TypeMeta{Kind: kind.Kind + suffix, APIVersion: version.String()}
}

// listOptions reads what a list or a watch asks for. wanted is a revision that the answer must know of.
func listOptions(r *request) (options *internalversion.ListOptions, wanted int64, err error) {
	options = &internalversion.ListOptions{}
	if err := readQuery(r, options); err != nil {
		return nil, 0, err
	}
	if options.FieldSelector != nil {
		if _, err := options.FieldSelector.Transform(runtime.DefaultMetaV1FieldSelectorConversion); err != nil {
			return nil, 0, badRequest("%v", err)
		}
	}
	revision, err := strconv.ParseUint(cmp.Or(options.ResourceVersion, "0"), 10, 63)
	if err != nil {
		return nil, 0, badRequest("resourceVersion %q is no number of this server", options.ResourceVersion)
	}
	return options, int64(revision), invalid(metav1.Kind("ListOptions"), "", validation.ValidateListOptions(options, true))
}

func readQuery(r *request, options runtime.Object) error {
	if err := metainternalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, options); err != nil {
		return badRequest("%v", err)
	}
	return nil
}

func matches(options *internalversion.ListOptions, t *topping) bool {
	if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(t.Labels)) {
		return false
	}
	return options.FieldSelector == nil || options.FieldSelector.Matches(fields.Set{"metadata.name": t.Name})
}
