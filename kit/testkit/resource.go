package testkit

import (
	"net/http"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// Resource is one kind of object that an APIServer serves.
type Resource struct {
	schema.GroupVersionKind
	// Plural is its name in a URL.
	Plural                 string
	ShortNames, Categories []string
	// ClusterScoped objects are in no namespace.
	ClusterScoped bool
	// Status is true if it has the subresource status.
	Status bool
	// Scale is nil unless it has the subresource scale.
	Scale *Scale
	// Generation is true if metadata.generation is counted.
	Generation bool
	// Blind allows an update without a resourceVersion, which overwrites the stored object.
	Blind bool
	// Selectable are the fields that a field selector may name in addition to the metadata, such as spec.type.
	Selectable []string
	// Schema is nil if any object is valid, as for built-in kinds.
	Schema Schema
	// Default sets what an object lacks, if it is not nil.
	Default func(*unstructured.Unstructured)
	// Admit rejects a create or an update with an error, if it is not nil. It gets the object as it would be
	// stored, and all other objects of the resource, and must not modify them. No write happens meanwhile.
	Admit func(object *unstructured.Unstructured, others []*unstructured.Unstructured) error
}

// builtIn reports whether the kind is one of Kubernetes' own.
func (r *Resource) builtIn() bool { return typed.Recognizes(r.GroupVersionKind) }

// Scale has the paths of the fields that the subresource scale shows, such as .spec.replicas. Selector may be "".
type Scale struct{ Replicas, StatusReplicas, Selector string }

// Schema is the schema of a custom resource. Package crd implements it. Its methods are safe for
// concurrent use with different objects.
type Schema interface {
	// Prune removes each field that the schema lacks, and each null that it does not allow. It returns the
	// paths of those fields, and an error if the metadata cannot be decoded.
	Prune(object map[string]any) (unknown []string, err error)
	// Default sets the defaults of an object that is pruned.
	Default(object map[string]any)
	// Validate returns the errors of a new object, or of an update of before, if that is not nil.
	Validate(object, before map[string]any) field.ErrorList
}

// validate returns the errors of an object, in the API server's words. before is nil for a new object.
func (r *Resource) validate(before, object *unstructured.Unstructured) error {
	var wrong field.ErrorList
	var old map[string]any
	if metadata := field.NewPath("metadata"); before == nil {
		wrong = validation.ValidateObjectMetaAccessor(object, !r.ClusterScoped, r.validateName, metadata)
	} else {
		wrong = validation.ValidateObjectMetaAccessorUpdate(object, before, metadata)
		old = before.Object
	}
	// An API server replaces managedFields before it validates the object.
	wrong = slices.DeleteFunc(wrong, func(e *field.Error) bool { return strings.HasPrefix(e.Field, "metadata.managedFields") })
	if r.Schema != nil {
		wrong = append(wrong, r.Schema.Validate(object.Object, old)...)
	}
	return r.invalid(object, wrong)
}

// validateName is a validation.ValidateNameFunc.
func (r *Resource) validateName(name string, prefix bool) []string {
	if r.builtIn() {
		return content.IsPathSegmentName(name)
	}
	return validation.NameIsDNSSubdomain(name, prefix)
}

func (r *Resource) invalid(object *unstructured.Unstructured, wrong field.ErrorList) error {
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(r.GroupVersionKind.GroupKind(), object.GetName(), wrong)
}

// complete turns an object as sent into the object as stored: pruned, and with defaults.
func (r *Resource) complete(object *unstructured.Unstructured) error {
	object.SetGroupVersionKind(r.GroupVersionKind)
	if r.Schema == nil {
		DropNulls(object.Object)
	} else if _, err := r.Schema.Prune(object.Object); err != nil {
		return err
	}
	if len(object.GetFinalizers()) == 0 {
		object.SetFinalizers(nil)
	}
	r.setDefaults(object)
	return nil
}

func (r *Resource) setDefaults(object *unstructured.Unstructured) {
	if r.Schema != nil {
		r.Schema.Default(object.Object)
	}
	if r.Default != nil {
		r.Default(object)
	}
}

// oneReplica sets the default of a Deployment without spec.replicas.
func oneReplica(deployment *unstructured.Unstructured) {
	if _, found, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "replicas"); !found {
		_ = unstructured.SetNestedField(deployment.Object, int64(1), "spec", "replicas")
	}
}

// builtIn are the resources of Kubernetes that the program uses, Pods and Secrets. NewAPIServer
// serves them. Package builtin has all others.
var builtIn = []Resource{
	{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Plural: "deployments", ShortNames: []string{"deploy"}, Status: true,
		Scale: &Scale{".spec.replicas", ".status.replicas", ".spec.selector"}, Generation: true, Blind: true, Default: oneReplica},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Plural: "namespaces", ShortNames: []string{"ns"},
		ClusterScoped: true, Blind: true, Default: heldNamespace},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Plural: "pods", ShortNames: []string{"po"}, Status: true, Generation: true, Blind: true},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Plural: "secrets", Blind: true, Selectable: []string{"type"}},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Event"), Plural: "events", ShortNames: []string{"ev"}, Blind: true},
	{GroupVersionKind: eventsv1.SchemeGroupVersion.WithKind("Event"), Plural: "events", ShortNames: []string{"ev"}, Blind: true},
	{GroupVersionKind: coordinationv1.SchemeGroupVersion.WithKind("Lease"), Plural: "leases"},
}

// heldNamespace sets the finalizer that keeps a namespace while it is being deleted. A real server has it in
// the spec.
func heldNamespace(namespace *unstructured.Unstructured) {
	if namespace.GetDeletionTimestamp() == nil {
		namespace.SetFinalizers([]string{string(corev1.FinalizerKubernetes)})
	}
}

// typed has the Go types of all built-in kinds: to read protobuf, and for strategic merge
// patches.
var typed, codecs = scheme.Scheme, scheme.Codecs

func (r *Resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// Path returns the URL of an object, or without a name of a collection.
func (r *Resource) Path(namespace, name string) string {
	url := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		url = "/api/" + r.Version
	}
	if namespace != "" && !r.ClusterScoped {
		url += "/namespaces/" + namespace
	}
	return path.Join(url, r.Plural, name)
}

// serveDiscovery serves /version, and the API groups and resources.
func (s *APIServer) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		writeJSON(w, http.StatusOK, version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.1"})
		return
	}
	if r.URL.Path == "/api" {
		writeJSON(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		return
	}
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	for _, res := range s.resources {
		if path.Dir(res.Path("", "")) == r.URL.Path {
			writeJSON(w, http.StatusOK, s.resourceList(res.GroupVersion()))
			return
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: res.GroupVersion().String(), Version: res.Version}
		if res.Group != "" && !slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == res.Group }) {
			groups.Groups = append(groups.Groups, metav1.APIGroup{Name: res.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version})
		}
	}
	if r.URL.Path == "/apis" {
		writeJSON(w, http.StatusOK, groups)
		return
	}
	http.NotFound(w, r)
}

func (s *APIServer) resourceList(of schema.GroupVersion) metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: of.String()}
	for _, res := range s.resources {
		if res.GroupVersion() != of {
			continue
		}
		if res.Status {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: res.Plural + "/status", Kind: res.Kind, Namespaced: !res.ClusterScoped, Verbs: metav1.Verbs{"get", "patch", "update"}})
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: res.Plural, Kind: res.Kind, Namespaced: !res.ClusterScoped, ShortNames: res.ShortNames,
			Categories: res.Categories, Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}})
	}
	return list
}

func (r *Resource) has(subresource string) bool {
	return subresource == "" || subresource == "status" && r.Status || subresource == "scale" && r.Scale != nil
}
