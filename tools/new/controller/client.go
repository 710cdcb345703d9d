package main

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Client has the verbs that this program sends for Widgets, and no others. clientset/foo.go of
// byhand has all of them, to copy from.
type Client struct{ rest rest.Interface }

// NewClient returns a client for the server and the credentials in config, which it does not
// change. It opens no connection.
func NewClient(config *rest.Config) (*Client, error) {
	c := rest.CopyConfig(config)
	c.UserAgent = cmp.Or(c.UserAgent, rest.DefaultKubernetesUserAgent()) // for logs and managedFields
	c.APIPath, c.GroupVersion = "/apis", &groupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(c)
	return &Client{client}, err
}

// List reads all that opts selects in a namespace, or in all if it is "". It sends
// GET /apis/{group}/{version}/namespaces/{namespace}/widgets.
func (c *Client) List(ctx context.Context, namespace string, opts metav1.ListOptions) (*WidgetList, error) {
	result := &WidgetList{}
	return result, c.rest.Get().Namespace(namespace).Resource(resource).VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(result)
}

// Watch streams changes until the server ends it or ctx is done. It sends
// GET /apis/{group}/{version}/namespaces/{namespace}/widgets?watch=true.
func (c *Client) Watch(ctx context.Context, namespace string, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.rest.Get().Namespace(namespace).Resource(resource).VersionedParams(&opts, metav1.ParameterCodec).Watch(ctx)
}

// UpdateStatus replaces the status and leaves the rest as it is. It fails with NotFound, and with
// Conflict if w.ResourceVersion is not the newest. It sends
// PUT /apis/{group}/{version}/namespaces/{namespace}/widgets/{name}/status.
func (c *Client) UpdateStatus(ctx context.Context, w *Widget) (*Widget, error) {
	result := &Widget{}
	return result, c.rest.Put().NamespaceIfScoped(w.Namespace, w.Namespace != "").Resource(resource).Name(w.Name).SubResource("status").Body(w).Do(ctx).Into(result)
}
