package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// errModified is a real server's error for an update of an old version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

type request struct {
	*http.Request
	*Resource
	Target
	query url.Values
	path  string // of the object
}

func (s *APIServer) serve(w http.ResponseWriter, r *http.Request) {
	res := s.resourceAt(r.URL.Path)
	if res == nil {
		s.serveDiscovery(w, r)
		return
	}
	x := &request{Request: r, Resource: res, Target: TargetOf(r.URL.Path), query: r.URL.Query()}
	x.path = x.Path(x.Namespace, x.Name)
	switch {
	case !res.has(x.Subresource):
		WriteError(w, apierrors.NewNotFound(x.groupResource(), x.Name))
	case x.Name == "" && IsWatch(r):
		s.watch(w, x)
	default:
		body, err := s.answer(x)
		var status apierrors.APIStatus
		switch {
		case errors.As(err, &status):
			WriteError(w, status)
		case err != nil:
			WriteError(w, apierrors.NewBadRequest(err.Error()))
		case r.Method == http.MethodPost:
			writeJSON(w, http.StatusCreated, x.shown(body))
		default:
			writeJSON(w, http.StatusOK, x.shown(body))
		}
	}
}

// answer carries out a request. An error that is no APIStatus becomes 400.
func (s *APIServer) answer(x *request) (body any, err error) {
	sent, err := readJSON(x.Request)
	if err != nil {
		return nil, err
	}
	if x.query.Has("dryRun") {
		return nil, errors.New("this API server makes no dry run")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.moved.Broadcast()
	if x.Name == "" {
		switch x.Method {
		case http.MethodGet:
			return s.list(x)
		case http.MethodPost:
			return s.create(x, sent)
		}
	} else if before := s.objects[x.path]; before == nil {
		return nil, apierrors.NewNotFound(x.groupResource(), x.Name)
	} else {
		switch x.Method {
		case http.MethodGet:
			return x.view(before)
		case http.MethodPut:
			return s.update(x, before, sent)
		case http.MethodPatch:
			if sent, err = x.patched(before, sent); err != nil {
				return nil, err
			}
			return s.update(x, before, sent)
		case http.MethodDelete:
			return s.delete(x, sent)
		}
	}
	return nil, apierrors.NewMethodNotSupported(x.groupResource(), strings.ToLower(x.Method))
}

// readJSON returns the body as JSON. A built-in kind may come as protobuf.
func readJSON(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != runtime.ContentTypeProtobuf {
		return sent, err
	}
	object, _, err := codecs.UniversalDeserializer().Decode(sent, nil, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// object reads an object of this resource that belongs to the URL.
func (x *request) object(sent []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(sent); err != nil {
		return nil, err
	}
	if got := object.GroupVersionKind(); got.GroupVersion() != x.GroupVersion() {
		return nil, fmt.Errorf("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion(), x.GroupVersion())
	} else if got.Kind != x.Kind {
		return nil, fmt.Errorf("%s in version %q cannot be handled as a %s", got.Kind, got.GroupVersion(), x.Kind)
	}
	if namespace := object.GetNamespace(); namespace != "" && namespace != x.Namespace {
		return nil, errors.New("the namespace of the provided object does not match the namespace sent on the request")
	}
	if x.Namespace != "" {
		object.SetNamespace(x.Namespace)
	}
	if name := object.GetName(); x.Name != "" && name != x.Name {
		return nil, fmt.Errorf("the name of the object (%s) does not match the name on the URL (%s)", name, x.Name)
	}
	return object, x.complete(object)
}

// validate returns an error unless an object may replace before, which is nil for a new object.
func (s *APIServer) validate(x *request, before, object *unstructured.Unstructured) error {
	if err := x.Resource.validate(before, object); err != nil || x.Admit == nil {
		return err
	}
	var others []*unstructured.Unstructured
	for path, other := range s.objects {
		if path != x.path && s.resourceAt(path) == x.Resource {
			others = append(others, other)
		}
	}
	return x.Admit(object, others)
}

func (s *APIServer) create(x *request, sent []byte) (any, error) {
	object, err := x.object(sent)
	if err != nil {
		return nil, err
	}
	if prefix := object.GetGenerateName(); object.GetName() == "" && prefix != "" {
		object.SetName(fmt.Sprintf("%s%05d", prefix, s.version%100000))
	}
	namespace := s.objects["/api/v1/namespaces/"+x.Namespace]
	x.path = x.Path(x.Namespace, object.GetName())
	switch {
	case !x.ClusterScoped && namespace == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, x.Namespace)
	case !x.ClusterScoped && namespace.GetDeletionTimestamp() != nil:
		refusal := apierrors.NewForbidden(x.groupResource(), object.GetName(), fmt.Errorf("unable to create new content in namespace %s because it is being terminated", x.Namespace))
		refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", x.Namespace), Field: "metadata.namespace"}}
		return nil, refusal
	case object.GetResourceVersion() != "":
		return nil, failure(http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created")
	}
	if x.Status {
		delete(object.Object, "status")
		x.setDefaults(object)
	}
	if err := s.validate(x, nil, object); err != nil {
		return nil, err
	}
	if before := s.objects[x.path]; before != nil {
		refusal := apierrors.NewAlreadyExists(x.groupResource(), object.GetName())
		if before.GetDeletionTimestamp() != nil {
			refusal.ErrStatus.Message = "object is being deleted: " + refusal.ErrStatus.Message
		}
		return nil, refusal
	}
	object.SetDeletionTimestamp(nil)
	return s.put(x.Resource, x.path, object), nil
}

// update carries out a PUT, or a PATCH whose result was sent. A write to the spec or the
// status leaves the other unchanged.
func (s *APIServer) update(x *request, before *unstructured.Unstructured, sent []byte) (any, error) {
	var object *unstructured.Unstructured
	var err error
	if x.Subresource == "scale" {
		object, err = x.scaled(before, sent)
	} else {
		object, err = x.object(sent)
	}
	if err != nil {
		return nil, err
	}
	version, uid := object.GetResourceVersion(), object.GetUID()
	switch {
	case uid != "" && uid != before.GetUID() && x.Method == http.MethodPut:
		//lint:ignore ST1005 the words of a real server
		return nil, apierrors.NewConflict(x.groupResource(), x.Name, fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, before.GetUID()))
	case version == "" && !x.Blind && x.Subresource != "scale":
		kind := schema.GroupKind{Group: x.Group, Kind: x.Plural}
		return nil, apierrors.NewInvalid(kind, x.Name, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
	case version != "" && version != before.GetResourceVersion():
		return nil, apierrors.NewConflict(x.groupResource(), x.Name, errModified)
	}
	next := object
	if x.Subresource == "status" {
		next = before.DeepCopy()
		copyStatus(next, object)
	} else {
		if x.Status {
			copyStatus(next, before)
		}
		if uid == "" {
			next.SetUID(before.GetUID())
		}
		next.SetResourceVersion(before.GetResourceVersion())
		next.SetGeneration(before.GetGeneration())
		next.SetCreationTimestamp(before.GetCreationTimestamp())
		next.SetDeletionTimestamp(before.GetDeletionTimestamp())
		next.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	}
	if err := s.validate(x, before, next); err != nil {
		return nil, err
	}
	return x.view(s.put(x.Resource, x.path, next))
}

func copyStatus(object, from *unstructured.Unstructured) {
	delete(object.Object, "status")
	if status, found := from.Object["status"]; found {
		object.Object["status"] = status
	}
}

func (s *APIServer) delete(x *request, sent []byte) (any, error) {
	before := s.objects[x.path]
	var options metav1.DeleteOptions
	if len(sent) > 0 {
		if err := json.Unmarshal(sent, &options); err != nil {
			return nil, err
		}
	}
	if wanted := options.Preconditions; wanted != nil {
		kind := schema.GroupResource{Group: x.Group, Resource: x.Kind} // as a real server has it
		if wanted.UID != nil && *wanted.UID != before.GetUID() {
			return nil, apierrors.NewConflict(kind, x.Name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
				*wanted.UID, before.GetUID()))
		}
		if wanted.ResourceVersion != nil && *wanted.ResourceVersion != before.GetResourceVersion() {
			return nil, apierrors.NewConflict(kind, x.Name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
				*wanted.ResourceVersion, before.GetResourceVersion()))
		}
	}
	policy := metav1.DeletionPropagation("")
	if options.PropagationPolicy != nil {
		policy = *options.PropagationPolicy
	}
	last := s.terminate(x.Resource, x.path, policy)
	if s.objects[x.path] != nil {
		return last, nil
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: x.Name, Group: x.Group, Kind: x.Plural, UID: last.GetUID()}}, nil
}

// Refuse rejects, from now on, each request for which why returns an error. A nil why ends that.
// Refuse replaces the function of Intercept.
func (f *Faults) Refuse(why func(r *http.Request) *apierrors.StatusError) {
	if why == nil {
		f.Intercept(nil)
		return
	}
	f.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		err := why(r)
		if err != nil {
			WriteError(w, err)
		}
		return err != nil
	})
}

func failure(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// DropNulls removes the fields of a JSON value that are null, as a real API server does.
func DropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if field == nil {
				delete(value, key)
			} else {
				DropNulls(field)
			}
		}
	case []any:
		for _, item := range value {
			DropNulls(item)
		}
	}
}

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// WriteError answers with an error, as the API server does.
func WriteError(w http.ResponseWriter, err apierrors.APIStatus) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	writeJSON(w, int(status.Code), status)
}
