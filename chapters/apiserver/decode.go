package main

import (
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// strict also tells of fields that nobody knows, and of keys that come twice.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{Strict: true})

// contentType returns the type of what a client sends. It is JSON unless it says otherwise.
func contentType(r *request) string {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") == "" {
		return runtime.ContentTypeJSON
	}
	return mediaType
}

// unsupported refuses a type. kubectl has an answer to it: it sends another one.
func unsupported(r *request, supported string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body is of type " + r.Header.Get("Content-Type") + ", and must be of " + supported,
	}}
}

// readObject reads the object that a client sends.
func readObject(w *answerWriter, r *request) (object, error) {
	if contentType(r) != runtime.ContentTypeJSON {
		return nil, unsupported(r, runtime.ContentTypeJSON)
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	return decode(w, r, body)
}

// decode makes an object of JSON. It must be of the kind and in the version of the URL, and
// may leave out the name and the namespace that the URL has. What happens to fields that
// nobody knows is up to the client: fieldValidation.
func decode(w *answerWriter, r *request, body []byte) (object, error) {
	want := r.kind.gvk(r.version)
	decoded, got, err := strict.Decode(body, &want, nil)
	if err := complain(w, r, err); err != nil {
		return nil, err
	}
	if *got != want {
		return nil, badRequest("the object is a %s, and the URL of a %s", got, want)
	}
	o := decoded.(object)
	if o.GetNamespace() == "" {
		o.SetNamespace(r.namespace)
	}
	if o.GetName() == "" && r.verb != "create" {
		o.SetName(r.name)
	}
	if o.GetNamespace() != r.namespace {
		return nil, badRequest("the namespace of the object (%s) does not match the namespace on the URL (%s)", o.GetNamespace(), r.namespace)
	}
	if r.name != "" && o.GetName() != r.name {
		return nil, badRequest("the name of the object (%s) does not match the name on the URL (%s)", o.GetName(), r.name)
	}
	return o, nil
}

// complain tells a client of unknown fields and double keys as it wants to be told, and
// refuses what is no object.
func complain(w *answerWriter, r *request, err error) error {
	found, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && !isStrict {
		return badRequest("the body is no %s: %v", r.kind.name, err)
	}
	switch how := r.URL.Query().Get("fieldValidation"); how {
	case metav1.FieldValidationStrict:
		if isStrict {
			return badRequest("%v", err)
		}
	case metav1.FieldValidationIgnore:
	case "", metav1.FieldValidationWarn:
		if !isStrict {
			return nil
		}
		for _, err := range found.Errors() {
			if header, failed := utilnet.NewWarningHeader(299, "-", err.Error()); failed == nil {
				w.Header().Add("Warning", header)
			}
		}
	default:
		return badRequest("fieldValidation is %q, and may be Ignore, Warn or Strict", how)
	}
	return nil
}
