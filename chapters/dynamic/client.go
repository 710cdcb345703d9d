package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Client has a method for each verb, for every resource, like client-go's dynamic.Interface. Compare it with
// clientset/foo.go.
type Client struct{ rest rest.Interface }

// NewClient returns a client of config's server. It logs each request to steps before sending
// it.
func NewClient(config *rest.Config, steps *log.Logger) (*Client, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.NegotiatedSerializer = runtime.ContentTypeJSON, codec
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return told{next, steps} })
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Unversioned: the paths of this client begin with /, not with a group and version.
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	return &Client{client}, err
}

// Get sends
//
//	GET /apis/{group}/{version}/namespaces/{namespace}/{resource}/{name}
//	GET /apis/{group}/{version}/{resource}/{name} (cluster-scoped: no namespace)
//	GET /api/{version}/… (the first group, whose name is empty)
func (c *Client) Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	result := &unstructured.Unstructured{}
	err := c.request("GET", resource, namespace).
		Name(name).
		Do(ctx).
		Into(result)
	if err == nil && (result.GetName() != name || result.GetNamespace() != namespace) {
		err = errors.New("the response is a different object")
	}
	return result, err
}

// List sends
//
//	GET /apis/{group}/{version}/namespaces/{namespace}/{resource}
func (c *Client) List(ctx context.Context, resource schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	result := &unstructured.UnstructuredList{}
	err := c.request("GET", resource, namespace).
		VersionedParams(&opts, metav1.ParameterCodec).
		Do(ctx).
		Into(result)
	if err == nil && !strings.HasSuffix(result.GetKind(), "List") {
		err = errors.New("the response is not a list") // client-go's client would return an empty list
	}
	return result, err
}

// Watch sends
//
//	GET /apis/{group}/{version}/namespaces/{namespace}/{resource}?watch=true
func (c *Client) Watch(ctx context.Context, resource schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.request("GET", resource, namespace).
		VersionedParams(&opts, metav1.ParameterCodec).
		Watch(ctx)
}

// Raw gets a path. Close the response.
func (c *Client) Raw(ctx context.Context, path string) (io.ReadCloser, error) {
	return c.rest.Get().RequestURI(path).Stream(ctx)
}

// request starts a request: a GVR is a path.
func (c *Client) request(verb string, resource schema.GroupVersionResource, namespace string) *rest.Request {
	root := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		root = []string{"api", resource.Version}
	}
	return c.rest.Verb(verb).
		AbsPath(root...).
		NamespaceIfScoped(namespace, namespace != "").
		Resource(resource.Resource)
}

// told prints each request, then sends it.
type told struct {
	next  http.RoundTripper
	steps *log.Logger
}

// RoundTrip implements http.RoundTripper.
func (t told) RoundTrip(r *http.Request) (*http.Response, error) {
	t.steps.Println(r.Method, r.URL.RequestURI())
	return t.next.RoundTrip(r)
}

// printable removes control characters: the server's text is printed to a terminal.
type printable struct{ io.Writer }

// Write implements io.Writer, for whole lines.
func (p printable) Write(text []byte) (int, error) {
	_, err := io.WriteString(p.Writer, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return unicode.ReplacementChar
		}
		return r
	}, string(text)))
	return len(text), err
}
