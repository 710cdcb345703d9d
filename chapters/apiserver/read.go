package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	var found object
	err = s.storage.read(func(revision int64, all map[key]object) error {
		if wanted > revision {
			return tooLarge(wanted, revision)
		}
		if found = all[r.key()]; found == nil {
			return apierrors.NewNotFound(r.groupResource(), r.name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.send(http.StatusOK, r.represent(as, found))
}

// list answers with the objects that match the selectors, limit at a time.
func (s *server) list(w *answerWriter, r *request) error {
	as, err := negotiate(r)
	if err != nil {
		return err
	}
	options, err := listOptions(r)
	if err != nil {
		return err
	}
	from, err := startOf(options)
	if err != nil {
		return err
	}
	objects, revision, err := s.storage.list(r.kind.resource, r.namespace, from.Revision)
	if err == nil && revision < from.atLeast {
		err = tooLarge(from.atLeast, revision)
	}
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o object) bool {
		return !matches(options, o) || !from.isBefore(o)
	})
	about := listMeta(revision)
	if limit := options.Limit; limit > 0 && int64(len(objects)) > limit {
		about.RemainingItemCount = new(int64(len(objects)) - limit)
		objects = objects[:limit]
		about.Continue = continueAfter(revision, objects[limit-1])
	}
	return w.send(http.StatusOK, r.representList(as, objects, about))
}

// listOptions reads the query of a list or a watch.
func listOptions(r *request) (*internalversion.ListOptions, error) {
	options := &internalversion.ListOptions{}
	if err := metainternalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, options); err != nil {
		return nil, badRequest("%v", err)
	}
	if errs := validation.ValidateListOptions(options, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	if options.FieldSelector != nil {
		for _, requirement := range options.FieldSelector.Requirements() {
			if requirement.Field != "metadata.name" && requirement.Field != "metadata.namespace" {
				return nil, badRequest("field label not supported: %s", requirement.Field)
			}
		}
	}
	return options, nil
}

func matches(options *internalversion.ListOptions, o object) bool {
	if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	place := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}
	return options.FieldSelector == nil || options.FieldSelector.Matches(place)
}

// start is where a list begins. As JSON it is what a client sends as continue, which only
// the server reads.
type start struct {
	// Revision is the moment that the list shows, 0 for now. Each page of a list shows the
	// same one, or there would be objects on two pages or none.
	Revision int64 `json:"revision"`
	// Namespace and Name are of the last object that the client has.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// atLeast is how new now must be.
	atLeast int64
}

// isBefore reports whether an object comes after the last one that the client has.
func (s start) isBefore(o object) bool {
	return cmp.Or(cmp.Compare(s.Namespace, o.GetNamespace()), cmp.Compare(s.Name, o.GetName())) < 0
}

// startOf reads continue, or else resourceVersion.
func startOf(options *internalversion.ListOptions) (from start, err error) {
	if options.Continue != "" {
		token, err := base64.RawURLEncoding.DecodeString(options.Continue)
		if err == nil {
			err = json.Unmarshal(token, &from)
		}
		if err != nil || from.Revision <= 0 || from.Name == "" {
			return start{}, badRequest("continue key is not valid")
		}
		return from, nil
	}
	revision, err := parseRevision(options.ResourceVersion)
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		return start{Revision: revision}, err
	}
	return start{atLeast: revision}, err
}

func continueAfter(revision int64, last object) string {
	// Numbers and strings can be written as JSON.
	token, _ := json.Marshal(start{Revision: revision, Namespace: last.GetNamespace(), Name: last.GetName()})
	return base64.RawURLEncoding.EncodeToString(token)
}

// parseRevision reads a resourceVersion. None is 0.
func parseRevision(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil || revision < 0 {
		return 0, badRequest("resourceVersion %q is no number of this server", text)
	}
	return revision, nil
}

func listMeta(revision int64) metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)}
}
