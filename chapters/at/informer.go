package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/informer"
)

// NewAts returns an informer for the Ats of a namespace, or of all namespaces if it is "".
func NewAts(client *Client, namespace string, resync time.Duration, handler cache.ResourceEventHandler) *informer.Informer {
	listWatch := cache.NewListWatchFromClient(client.rest, "ats", namespace, fields.Everything())
	return informer.New(SchemeGroupVersion.WithResource("ats").GroupResource(), client, listWatch,
		cache.InformerOptions{ObjectType: &At{}, Handler: handler, ResyncPeriod: resync})
}

const (
	// uidLabel holds the UID of the Pod's At, not its name: a label's value has at most 63
	// characters, a name 253.
	uidLabel = "cnat.programming-kubernetes.info/at-uid"
	// nameAnnotation holds the name of the Pod's At. An orphan, whose At was deleted without
	// it, has no owner reference.
	nameAnnotation = "cnat.programming-kubernetes.info/at"
)

// NewPods returns an informer for the Pods of Ats only: a cluster may have 100,000 Pods.
func NewPods(client kubernetes.Interface, namespace string, handler cache.ResourceEventHandler) *informer.Informer {
	listWatch := cache.NewFilteredListWatchFromClient(client.CoreV1().RESTClient(), "pods", namespace,
		func(opts *metav1.ListOptions) { opts.LabelSelector = uidLabel })
	return informer.New(corev1.Resource("pods"), client, listWatch,
		cache.InformerOptions{ObjectType: &corev1.Pod{}, Handler: handler, Indexers: podIndexers()})
}

const byAt = "byAt"

func podIndexers() cache.Indexers {
	return cache.Indexers{byAt: func(obj any) ([]string, error) {
		return []string{atOf(obj.(*corev1.Pod)).String()}, nil
	}}
}

// atOf returns the key of a Pod's At. The name is empty if the annotation is not a valid
// name: users who can write Pods may write anything there, and the key goes into requests
// and logs.
func atOf(pod *corev1.Pod) cache.ObjectName {
	name := pod.Annotations[nameAnnotation]
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = ""
	}
	return cache.NewObjectName(pod.Namespace, name)
}

// podsOf returns the Pods for the At with this key, whatever its UID.
func podsOf(pods cache.Indexer, at cache.ObjectName) (found []*corev1.Pod) {
	objects, err := pods.ByIndex(byAt, at.String())
	if err != nil {
		panic(err) // the Store has no such index
	}
	for _, obj := range objects {
		found = append(found, obj.(*corev1.Pod))
	}
	return found
}

// enqueueAt returns the handler for Pods: each event enqueues the Pod's At. It does not use the
// owner reference, which an orphaned Pod has lost.
func enqueueAt(queue controller.Queue) cache.ResourceEventHandler {
	return controller.EnqueueKeys(queue, func(pod metav1.Object) []cache.ObjectName { return []cache.ObjectName{atOf(pod.(*corev1.Pod))} })
}

// get returns the object that a store holds under key. The store shares it: do not modify it.
func get[T any](store cache.Store, key cache.ObjectName) (obj T, ok bool) {
	stored, exists, err := store.GetByKey(key.String())
	if err != nil || !exists {
		return obj, false
	}
	obj, ok = stored.(T)
	return obj, ok
}
