package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// scheme is used only by this client: client-go's global one stays unchanged.
var scheme = runtime.NewScheme()

func init() { utilruntime.Must(AddToScheme(scheme)) }

// Client is the REST client of this group. It has only the verbs that the reconcile sends;
// the core's clientset/foo.go has all of them.
type Client struct{ rest rest.Interface }

// NewClient returns a client for config's server and credentials.
func NewClient(config *rest.Config) (*Client, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(c)
	return &Client{client}, err
}

// Get reads an At. It fails with NotFound. It sends
//
//	GET /apis/cnat.programming-kubernetes.info/v1alpha1/namespaces/{namespace}/ats/{name}
func (c *Client) Get(ctx context.Context, namespace, name string) (*At, error) {
	result := &At{}
	err := c.rest.Get().
		Namespace(namespace).
		Resource("ats").
		Name(name).
		Do(ctx).
		Into(result)
	return result, err
}

// UpdateStatus replaces the status and leaves the rest unchanged. It fails with NotFound, and
// with Conflict if at.ResourceVersion is outdated. It sends
//
//	PUT /apis/cnat.programming-kubernetes.info/v1alpha1/namespaces/{namespace}/ats/{name}/status
func (c *Client) UpdateStatus(ctx context.Context, at *At) (*At, error) {
	result := &At{}
	err := c.rest.Put().
		Namespace(at.Namespace).
		Resource("ats").
		Name(at.Name).
		SubResource("status").
		Body(at).
		Do(ctx).
		Into(result)
	return result, err
}

// whole rejects a response of another kind. A client decodes it to an empty object, which would look
// like a missing Pod or another owner's Pod.
func whole[T metav1.Object](object T, err error) (T, error) {
	if err == nil && object.GetUID() == "" {
		err = errors.New("the response is not an object of this kind")
	}
	return object, err
}
