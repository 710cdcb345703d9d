package main

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"example.com/byhand/chapters/apiserver/storage"
)

// create answers a POST.
func (s *server) create(w *answerWriter, r *request) error {
	sent, options, err := readObject(w, r)
	if err != nil {
		return err
	}
	if sent.GetResourceVersion() != "" {
		return badRequest("resourceVersion should not be set on objects to be created")
	}
	r.name = sent.GetName()
	return s.put(w, r, options, func(current object) (object, error) {
		if current != nil {
			return nil, apierrors.NewAlreadyExists(r.kind.groupResource(), r.name)
		}
		return to(hub, sent), nil
	})
}

// update answers a PUT.
func (s *server) update(w *answerWriter, r *request) error {
	sent, options, err := readObject(w, r)
	if err != nil {
		return err
	}
	return s.put(w, r, options, func(current object) (object, error) {
		if current == nil {
			return nil, apierrors.NewNotFound(r.kind.groupResource(), r.name)
		}
		return to(hub, sent), nil
	})
}

// readObject reads the object that a client sends, and the query. A PatchOptions has what
// the options of the others have.
func readObject(w *answerWriter, r *request) (object, *metav1.PatchOptions, error) {
	options, err := writeOptions(r)
	if err != nil {
		return nil, nil, err
	}
	if contentType(r) != runtime.ContentTypeJSON {
		return nil, nil, unsupported(r, runtime.ContentTypeJSON)
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	o, err := decode(r, body, options.FieldValidation)
	return o, options, err
}

func writeOptions(r *request) (*metav1.PatchOptions, error) {
	options := &metav1.PatchOptions{}
	if err := readQuery(r.URL.Query(), options); err != nil {
		return nil, err
	}
	return options, invalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(options, types.PatchType(contentType(r))))
}

// put stores what next makes of the object as it is, and answers with it. next is called with
// nil if there is no such object, and returns a new one. It may take a while, and so may what
// the API server is asked, so nothing is locked meanwhile. If the object has been changed when
// all is ready, everything is done again, as GuaranteedUpdate of k8s.io/apiserver does.
func (s *server) put(w *answerWriter, r *request, options *metav1.PatchOptions, next func(current object) (object, error)) error {
	partial, err := negotiate(r)
	if err != nil {
		return err
	}
	var current, answer object
	err = s.write(r, r.key(), len(options.DryRun) > 0, func(now object) (object, error) {
		current = now
		answer, err = s.prepare(r, options, current, next)
		return answer, err
	}, validateToppings)
	if err != nil {
		return err
	}
	code := http.StatusOK
	if current == nil {
		code = http.StatusCreated
	}
	return w.send(code, r.represent(partial, answer))
}

// write stores what next makes of an object, unless check refuses it beside all others. It does
// everything again while other requests are faster, as long as this one has time.
func (s *server) write(r *request, at key, dryRun bool, next func(current object) (object, error), check func(o object, all map[key]object) error) error {
	for {
		current, _ := s.storage.Get(at)
		o, err := next(current)
		if err != nil {
			return err
		}
		err = s.storage.Write(at, dryRun, current, unlessGone(o), func(all map[key]object) error {
			if r.Context().Err() != nil {
				return apierrors.NewTimeoutError("too much else is written", 1)
			}
			return check(o, all)
		})
		if !errors.Is(err, storage.ErrChanged) {
			return err
		}
		if r.Context().Err() != nil {
			return apierrors.NewConflict(r.kind.groupResource(), at.Name, errModified)
		}
	}
}

// prepare returns an object that is ready to be stored in the place of current.
func (s *server) prepare(r *request, options *metav1.PatchOptions, current object, next func(current object) (object, error)) (object, error) {
	if current == nil && (r.verb == "create" || isApply(r)) {
		if err := s.mayCreate(r); err != nil {
			return nil, err
		}
	}
	o, err := next(current)
	if err != nil {
		return nil, err
	}
	if current == nil {
		prepareForCreate(o)
	} else if err := prepareForUpdate(r.kind, o, current); err != nil {
		return nil, err
	}
	if !isApply(r) {
		o = fieldManagers.update(r, options.FieldManager, current, o)
	}
	return o, validate(r.kind, o, current)
}

// prepareForCreate makes an object what it is on its first day.
func prepareForCreate(o object) {
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(metav1.Now())
	o.SetGeneration(1)
	o.SetDeletionTimestamp(nil)
	o.SetDeletionGracePeriodSeconds(nil)
	scheme.Default(o)
}

// prepareForUpdate makes an object the next state of current. What the server alone decides
// stays. A resourceVersion that is missing stays missing, and validate refuses that.
func prepareForUpdate(k *kind, o, current object) error {
	if err := checkVersion(k, current, string(o.GetUID()), o.GetResourceVersion()); err != nil {
		return err
	}
	o.SetUID(current.GetUID())
	o.SetCreationTimestamp(current.GetCreationTimestamp())
	o.SetDeletionTimestamp(current.GetDeletionTimestamp())
	o.SetDeletionGracePeriodSeconds(current.GetDeletionGracePeriodSeconds())
	o.SetGeneration(current.GetGeneration())
	scheme.Default(o)
	if !reflect.DeepEqual(k.spec(o), k.spec(current)) {
		o.SetGeneration(current.GetGeneration() + 1)
	}
	return nil
}

// unlessGone returns nil for an object that is being deleted and waits for no finalizer any more.
func unlessGone(o object) object {
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		return nil
	}
	return o
}

// mayCreate returns an error unless the client may create an object, which for an apply it
// has not asked, and the namespace takes one. The API server looks for its own kinds; here
// no admission plugin runs. Without the look, objects would come into a namespace while it is
// emptied, and stay in one that is gone.
func (s *server) mayCreate(r *request) error {
	if isApply(r) {
		create := *r
		create.verb = "create"
		if err := s.authorize(r.Context(), &create); err != nil {
			return err
		}
	}
	if !r.kind.namespaced {
		return nil
	}
	namespace, err := s.namespace(r.Context(), r.namespace)
	if err != nil || namespace.DeletionTimestamp == nil {
		return err
	}
	refused := apierrors.NewForbidden(r.kind.groupResource(), r.name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.namespace))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", r.namespace), Field: "metadata.namespace",
	})
	return refused
}

// strict also tells of unknown fields, and of keys that come twice.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{Strict: true})

// decodeStored makes an object of what was stored.
func decodeStored(text []byte) (object, error) {
	stored, _, err := strict.Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	return stored.(object), nil
}

// contentType returns the type of what a client sends. It is JSON unless it says otherwise.
func contentType(r *request) string {
	mediaType, _, _ := mime.ParseMediaType(cmp.Or(r.Header.Get("Content-Type"), runtime.ContentTypeJSON))
	return mediaType
}

// unsupported refuses a type. kubectl has an answer to it: it sends another one.
func unsupported(r *request, supported string) error {
	return refusal(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body is of type "+r.Header.Get("Content-Type")+", and must be of "+supported)
}

// decode makes an object of JSON. It must be of the kind and in the version of the URL, and
// may leave out the name and the namespace that the URL has. Fields that are not known, and
// keys that come twice, are refused, unless the client wants them to be ignored.
func decode(r *request, body []byte, fieldValidation string) (object, error) {
	want := r.version.WithKind(r.kind.name)
	decoded, got, err := strict.Decode(body, &want, nil)
	if err != nil && !(runtime.IsStrictDecodingError(err) && fieldValidation == metav1.FieldValidationIgnore) {
		return nil, badRequest("%v", err)
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
