package main

import (
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// strict also tells of fields that nobody knows, and of keys that come twice.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{Strict: true})

// contentType returns the type of what a client sends. It is JSON unless it says otherwise.
func contentType(r *request) string {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return runtime.ContentTypeJSON
	}
	mediaType, _, _ := mime.ParseMediaType(header)
	return mediaType
}

// unsupported refuses a type. kubectl has an answer to it: it sends another one.
func unsupported(r *request, supported string) error {
	return refusal(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body is of type "+r.Header.Get("Content-Type")+", and must be of "+supported)
}

// decode makes an object of JSON. It must be of the kind and in the version of the URL, and
// may leave out the name and the namespace that the URL has. What happens to fields that
// nobody knows is up to the client: fieldValidation.
func decode(w *answerWriter, r *request, body []byte, fieldValidation string) (object, error) {
	want := r.version.WithKind(r.kind.name)
	decoded, got, err := strict.Decode(body, &want, nil)
	if err := complain(w, err, fieldValidation); err != nil {
		return nil, err
	}
	if *got != want {
		return nil, badRequest("the object is a %s, and the URL of a %s", got, want)
	}
	o := decoded.(object)
	if o.GetNamespace() == "" {
		o.SetNamespace(r.namespace)
	}
	if o.GetName() == "" {
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

// complain tells a client of unknown fields and double keys as it wants to be told, by a
// warning if it does not say, and refuses what is no object.
func complain(w *answerWriter, err error, fieldValidation string) error {
	found, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case err != nil && !isStrict, isStrict && fieldValidation == metav1.FieldValidationStrict:
		return badRequest("%v", err)
	case !isStrict || fieldValidation == metav1.FieldValidationIgnore:
		return nil
	}
	for _, err := range found.Errors() {
		if header, failed := utilnet.NewWarningHeader(299, "-", err.Error()); failed == nil {
			w.Header().Add("Warning", header)
		}
	}
	return nil
}
