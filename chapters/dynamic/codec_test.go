package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kubescheme "k8s.io/client-go/kubernetes/scheme"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

// The way from bytes to a Go value and back, step by step. Read the examples from the top.

const (
	fooJSON = `{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": {"name": "a"},
		"spec": {"deploymentName": "a", "replicas": 3, "unknown": "field"}}`
	deploymentJSON = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
		"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}}}}`
)

// decode does the steps of a decoder's Decode method. The Scheme determines the resulting type.
func decode(data []byte, scheme runtime.ObjectCreater) (runtime.Object, error) {
	// 1. Recognize the content type. (A client reads it from the response's header. Bytes from
	// a file or etcd have no header: JSON begins with {, the others with a magic number.)
	if recognised, _, _ := (&json.Serializer{}).RecognizesData(data); !recognised {
		return nil, fmt.Errorf("no JSON: %.8q", data)
	}
	// 2. Read only the kind: apiVersion and kind.
	kind, err := json.DefaultMetaFactory.Interpret(data)
	if err != nil {
		return nil, err
	}
	// 3. Let the Scheme create an empty value of the kind's Go type.
	value, err := scheme.New(*kind)
	if err != nil {
		return nil, err
	}
	// 4. Fill it. Fields that the Go type lacks are dropped.
	return value, utiljson.Unmarshal(data, value)
}

// The Scheme determines which Go type the same bytes become.
func Example_decode() {
	print := func(of, data string, scheme runtime.ObjectCreater) {
		value, err := decode([]byte(data), scheme)
		if err != nil {
			fmt.Printf("%s: not registered: %v\n", of, runtime.IsNotRegisteredError(err))
			return
		}
		fmt.Printf("%s: %T\n", of, value)
	}
	print("Foo, Scheme of the core", fooJSON, clientset.Scheme)
	print("Foo, Scheme of client-go", fooJSON, kubescheme.Scheme)
	print("Foo, this chapter", fooJSON, creater{scheme})
	print("Deployment, Scheme of client-go", deploymentJSON, kubescheme.Scheme)
	print("Deployment, this chapter", deploymentJSON, creater{scheme})
	print("Status, this chapter", `{"apiVersion": "v1", "kind": "Status"}`, creater{scheme})

	foo, _ := decode([]byte(fooJSON), clientset.Scheme)
	fmt.Println("typed:", *foo.(*v1alpha1.Foo).Spec.Replicas)
	object, _ := decode([]byte(fooJSON), creater{scheme})
	replicas, _, _ := unstructured.NestedInt64(object.(*unstructured.Unstructured).Object, "spec", "replicas")
	unknown, _, _ := unstructured.NestedString(object.(*unstructured.Unstructured).Object, "spec", "unknown")
	fmt.Println("unstructured:", replicas, unknown)
	// Output:
	// Foo, Scheme of the core: *v1alpha1.Foo
	// Foo, Scheme of client-go: not registered: true
	// Foo, this chapter: *unstructured.Unstructured
	// Deployment, Scheme of client-go: *v1.Deployment
	// Deployment, this chapter: *unstructured.Unstructured
	// Status, this chapter: *v1.Status
	// typed: 3
	// unstructured: 3 field
}

// WithoutConversion omits three things that a server does: it converts no versions, sets no
// defaults, and asks the Scheme for no internal version. It only sets and clears the kind.
func Example_withoutConversion() {
	info, _ := runtime.SerializerInfoForMediaType(clientset.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	gv := v1alpha1.SchemeGroupVersion
	client := clientset.Codecs.WithoutConversion()

	// With conversion: to the internal version, which only servers have.
	_, err := runtime.Decode(clientset.Codecs.UniversalDecoder(), []byte(fooJSON))
	fmt.Println("with conversion: not registered:", runtime.IsNotRegisteredError(err))

	// Without conversion: the Go type implies the kind, so apiVersion and kind are cleared.
	value, err := runtime.Decode(client.DecoderToVersion(info.Serializer, gv), []byte(fooJSON))
	foo := value.(*v1alpha1.Foo)
	fmt.Printf("decoded: kind %q, %v\n", foo.Kind, err)

	// When encoding, the Scheme supplies the Go type's kind. A plain serializer does not use it.
	foo.Status, foo.Spec.Replicas = v1alpha1.FooStatus{}, nil
	data, _ := runtime.Encode(info.Serializer, foo)
	fmt.Printf("a plain serializer:  %.30s\n", data)
	data, _ = runtime.Encode(client.EncoderForVersion(info.Serializer, gv), foo)
	fmt.Printf("without conversion:  %.30s\n", data)

	// No defaults: an API server would set 1.
	value, _ = runtime.Decode(kubescheme.Codecs.UniversalDeserializer(), []byte(deploymentJSON))
	fmt.Println("replicas of the Deployment:", value.(*appsv1.Deployment).Spec.Replicas)

	// An Unstructured has its kind only in its fields. A typed client's decoder would clear them,
	// so a dynamic client has a different codec.
	object, _ := runtime.Decode(runtime.WithoutVersionDecoder{Decoder: unstructured.UnstructuredJSONScheme}, []byte(fooJSON))
	fmt.Printf("an Unstructured, by a typed client's decoder: kind %q\n", object.GetObjectKind().GroupVersionKind().Kind)
	// Output:
	// with conversion: not registered: true
	// decoded: kind "", <nil>
	// a plain serializer:  {"metadata":{"name":"a"},"spec
	// without conversion:  {"kind":"Foo","apiVersion":"sa
	// replicas of the Deployment: <nil>
	// an Unstructured, by a typed client's decoder: kind ""
}
