package compare

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1/applyconfiguration"
	"example.com/byhand/clientset"
)

// caller is one of the clients that are compared: each verb is the call that a
// user of that client writes. watch is nil if the client has none.
type caller struct {
	name                            string
	get, list, create, updateStatus func(context.Context) (any, error)
	watch                           func(context.Context) (watch.Interface, error)
}

// calls returns the verbs by name. watch is the next event of a stream that ends with
// tb.
func (c caller) calls(tb testing.TB) map[string]func(context.Context) (any, error) {
	stream, err := c.watch(tb.Context())
	if err != nil {
		tb.Fatalf("%s, watch: %v", c.name, err)
	}
	tb.Cleanup(stream.Stop)
	return map[string]func(context.Context) (any, error){"get": c.get, "list": c.list, "create": c.create, "updateStatus": c.updateStatus,
		"watch": func(context.Context) (any, error) { return (<-stream.ResultChan()).Object, nil }}
}

// byHand calls the clientset of this project.
func byHand(foos clientset.FoosGetter) caller {
	sent := sentFoo()
	return caller{
		name: "byhand",
		get: func(ctx context.Context) (any, error) {
			return foos.Foos("default").Get(ctx, sent.Name, metav1.GetOptions{})
		},
		list: func(ctx context.Context) (any, error) { return foos.Foos("default").List(ctx, metav1.ListOptions{}) },
		create: func(ctx context.Context) (any, error) {
			return foos.Foos("default").Create(ctx, sent, metav1.CreateOptions{})
		},
		updateStatus: func(ctx context.Context) (any, error) {
			return foos.Foos("default").UpdateStatus(ctx, sent, metav1.UpdateOptions{})
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return foos.Foos("default").Watch(ctx, metav1.ListOptions{})
		},
	}
}

// generated calls what client-gen makes of our types: client-go's generic client,
// with the names and types filled in.
func generated(tb testing.TB, config *rest.Config) caller {
	// As generated code configures itself.
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &v1alpha1.SchemeGroupVersion, "/apis"
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(clientset.Scheme, clientset.Codecs).WithoutConversion()
	restClient, err := rest.RESTClientFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	parameterCodec := runtime.NewParameterCodec(clientset.Scheme)
	type foosClient = gentype.ClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration]
	foos := func(namespace string) *foosClient {
		return gentype.NewClientWithListAndApply[*v1alpha1.Foo, *v1alpha1.FooList, *applyconfiguration.FooApplyConfiguration](
			"foos", restClient, parameterCodec, namespace,
			func() *v1alpha1.Foo { return &v1alpha1.Foo{} }, func() *v1alpha1.FooList { return &v1alpha1.FooList{} })
	}
	sent := sentFoo()
	return caller{
		name: "generated",
		get: func(ctx context.Context) (any, error) {
			return foos("default").Get(ctx, sent.Name, metav1.GetOptions{})
		},
		list: func(ctx context.Context) (any, error) { return foos("default").List(ctx, metav1.ListOptions{}) },
		create: func(ctx context.Context) (any, error) {
			return foos("default").Create(ctx, sent, metav1.CreateOptions{})
		},
		updateStatus: func(ctx context.Context) (any, error) {
			return foos("default").UpdateStatus(ctx, sent, metav1.UpdateOptions{})
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return foos("default").Watch(ctx, metav1.ListOptions{})
		},
	}
}

// dynamicClient calls client-go's client for types that are not known.
func dynamicClient(tb testing.TB, config *rest.Config) caller {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		tb.Fatal(err)
	}
	foos := client.Resource(v1alpha1.SchemeGroupVersion.WithResource("foos"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sentFoo())
	if err != nil {
		tb.Fatal(err)
	}
	sent := &unstructured.Unstructured{Object: content}
	return caller{
		name: "dynamic",
		get: func(ctx context.Context) (any, error) {
			return foos.Namespace("default").Get(ctx, sent.GetName(), metav1.GetOptions{})
		},
		list: func(ctx context.Context) (any, error) {
			return foos.Namespace("default").List(ctx, metav1.ListOptions{})
		},
		create: func(ctx context.Context) (any, error) {
			return foos.Namespace("default").Create(ctx, sent, metav1.CreateOptions{})
		},
		updateStatus: func(ctx context.Context) (any, error) {
			return foos.Namespace("default").UpdateStatus(ctx, sent, metav1.UpdateOptions{})
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return foos.Namespace("default").Watch(ctx, metav1.ListOptions{})
		},
	}
}

// controllerRuntime calls controller-runtime's client without its cache. The mapper
// is given, so that no discovery is part of what is measured.
func controllerRuntime(tb testing.TB, config *rest.Config) caller {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.SchemeGroupVersion.WithKind("Foo"), meta.RESTScopeNamespace)
	c, err := client.NewWithWatch(config, client.Options{Scheme: clientset.Scheme, Mapper: mapper})
	if err != nil {
		tb.Fatal(err)
	}
	sent := sentFoo()
	return caller{
		name: "controller-runtime",
		get: func(ctx context.Context) (any, error) {
			foo := &v1alpha1.Foo{}
			return foo, c.Get(ctx, client.ObjectKeyFromObject(sent), foo)
		},
		list: func(ctx context.Context) (any, error) {
			list := &v1alpha1.FooList{}
			return list, c.List(ctx, list, client.InNamespace("default"))
		},
		// Writes change the object that they are given. It is empty before they decode
		// into it, so a shallow copy is enough.
		create: func(ctx context.Context) (any, error) {
			foo := *sent
			return &foo, c.Create(ctx, &foo)
		},
		updateStatus: func(ctx context.Context) (any, error) {
			foo := *sent
			return &foo, c.Status().Update(ctx, &foo)
		},
		watch: func(ctx context.Context) (watch.Interface, error) {
			return c.Watch(ctx, &v1alpha1.FooList{}, client.InNamespace("default"))
		},
	}
}

// bare is no client at all: the same bodies, sent and read to the end with net/http.
// It is what the server and the transport cost in every other figure.
func bare(url string, r *replies) caller {
	do := func(method, path string, body []byte) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			request, err := http.NewRequestWithContext(ctx, method, url+"/apis/"+v1alpha1.SchemeGroupVersion.String()+path, bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			request.Header.Set("Accept", r.mediaType)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return nil, err
			}
			defer func() { _ = response.Body.Close() }()
			data, err := io.ReadAll(response.Body)
			if err == nil && response.StatusCode/100 != 2 {
				err = fmt.Errorf("%s: %s", response.Status, data)
			}
			return data, err
		}
	}
	collection, object := "/namespaces/default/foos", "/namespaces/default/foos/"+sentFoo().Name
	return caller{
		name:         "bare",
		get:          do(http.MethodGet, object, nil),
		list:         do(http.MethodGet, collection, nil),
		create:       do(http.MethodPost, collection, r.sent),
		updateStatus: do(http.MethodPut, object+"/status", r.sent),
	}
}
