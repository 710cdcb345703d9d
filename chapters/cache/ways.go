package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// way is one way to keep objects in memory. Each differs from the first one in a single point.
type way struct {
	name, says string
	// narrow changes the options of each request, unless nil.
	narrow func(*metav1.ListOptions, options)
	// transform changes an object before it is stored, unless nil.
	transform cache.TransformFunc
	// noStream: the first list comes as a LIST. inHandler: the handler skips objects outside
	// --shard.
	noStream, inHandler bool
}

var ways = []way{
	{name: "everything", says: "each Secret, in protobuf, as a stream"},
	{name: "json", says: "the same in JSON"},
	{name: "pages", says: "the same in LISTs of 500", noStream: true, narrow: inPages},
	{name: "transform", says: "the same, without data in memory", transform: shorten},
	{name: "metadata", says: "only the metadata leaves the server"},
	{name: "namespace", says: "the Secrets of one namespace (--namespace)"},
	{name: "name", says: "one Secret by its name (--secret)", narrow: func(l *metav1.ListOptions, o options) { l.FieldSelector = "metadata.name=" + o.secret }},
	{name: "label", says: "Secrets with a label (--label)", narrow: func(l *metav1.ListOptions, o options) { l.LabelSelector = o.label }},
	{name: "field", says: "Secrets with a field (--field)", narrow: func(l *metav1.ListOptions, o options) { l.FieldSelector = o.field }},
	{name: "selectable", says: "FieldFoos by a field that their CRD declares (--selectable)", narrow: func(l *metav1.ListOptions, o options) { l.FieldSelector = o.selectable }},
	{name: "shard", says: "a part that the server chooses (--shard)", narrow: func(l *metav1.ListOptions, o options) { l.ShardSelector = o.shard.String() }},
	{name: "handler", says: "everything, but the handler processes only the same part", inHandler: true},
	{name: "get", says: "no cache, one GET (--secret)"},
}

// inPages splits the first list. A Reflector requests resourceVersion=0 and pages of 500, but a
// server does not split a response from its memory: pages need a request without a version.
func inPages(l *metav1.ListOptions, _ options) {
	if l.ResourceVersion == "0" {
		l.ResourceVersion = ""
	}
}

// shorten is a transform: it removes fields that this program does not read. It runs twice on an
// object of a stream, so it must be idempotent.
func shorten(obj any) (any, error) {
	if secret, ok := obj.(*corev1.Secret); ok {
		secret.Data, secret.ManagedFields = nil, nil
	}
	return obj, nil
}

func (w way) informer(config *rest.Config, o options) cache.SharedIndexInformer {
	namespace := ""
	switch w.name {
	case "metadata": // always in protobuf
		secrets := metadata.NewForConfigOrDie(config).Resource(corev1.SchemeGroupVersion.WithResource("secrets"))
		return cache.NewSharedIndexInformer(requests(secrets, w, o), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	case "selectable": // Foos whose CRD declares selectable fields: config/crd
		foos := schema.GroupVersion{Group: "cache.examples-gzh.com", Version: "v1alpha1"}.WithResource("fieldfoos")
		return cache.NewSharedIndexInformer(requests(dynamic.NewForConfigOrDie(config).Resource(foos), w, o), &unstructured.Unstructured{}, 0, cache.Indexers{})
	case "json": // For a built-in kind client-go's default is protobuf.
		config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	case "namespace", "name":
		namespace = o.namespace
	}
	return cache.NewSharedIndexInformer(requests(typedcorev1.NewForConfigOrDie(config).Secrets(namespace), w, o), &corev1.Secret{}, 0, cache.Indexers{})
}

// requests returns the functions that send a Reflector's requests.
func requests[L runtime.Object](client interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}, w way, o options) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, l metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, w.narrowed(l, o))
		},
		WatchFuncWithContext: func(ctx context.Context, l metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, w.narrowed(l, o))
		},
	}, w)
}

// narrowed returns the options of this way, for both the list and the watch. If the watch were not
// narrowed, each change would add an object that does not match.
func (w way) narrowed(l metav1.ListOptions, o options) metav1.ListOptions {
	if w.narrow != nil {
		w.narrow(&l, o)
	}
	return l
}

// IsWatchListSemanticsUnSupported tells a Reflector whether it may request its first list as a
// stream. The name is client-go's.
func (w way) IsWatchListSemanticsUnSupported() bool { return w.noStream }
