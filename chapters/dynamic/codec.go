package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// A Scheme is the first registry: Go type ↔ GVK. It answers two questions. Which Go type
// holds this kind (New), and of which kind is this Go value (ObjectKinds)? It is filled
// when the program is compiled. clientset/scheme.go has the one of Foos and Projects.
//
// scheme has only the kinds that every server sends, whatever it is asked for: above all
// Status, the answer to a request that failed, and WatchEvent, what a watch consists of.
// With Status as an Unstructured an error would lack the server's words, and in a watch,
// where nothing but its kind tells it apart, it would pass for an object.
var scheme = runtime.NewScheme()

func init() { metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) }

// creater makes the Go value that an answer is decoded into: what scheme has for the kind,
// and for every other kind an Unstructured. These eight lines are all that makes a client
// dynamic: a typed client fails here, with `no kind "…" is registered`.
type creater struct{ *runtime.Scheme }

// New implements runtime.ObjectCreater.
func (c creater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if c.Recognizes(kind) {
		return c.Scheme.New(kind)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// codec says how answers become values and values become bodies. It has one content type,
// which every kind has: JSON. codec_test.go takes each of its steps alone. The other two:
//
//   - Protobuf has numbers instead of field names. Only a Go type knows which is which, so
//     neither a custom resource nor an Unstructured can be protobuf.
//   - CBOR is JSON in binary, so everything can be CBOR. At v0.37 it is behind feature
//     gates, in client-go and in the API server.
//
// Without conversion: a Scheme can also convert between the versions of a kind and fill in
// defaults, as the API server does. A client has no such functions, and a codec that is to
// convert asks the Scheme for a version named __internal, which only servers have.
var codec = runtime.NewSimpleNegotiatedSerializer(runtime.SerializerInfo{
	MediaType:     runtime.ContentTypeJSON,
	EncodesAsText: true,
	Serializer:    json.NewSerializerWithOptions(json.DefaultMetaFactory, creater{scheme}, scheme, json.SerializerOptions{}),
	// A watch is a stream of WatchEvents, each in a frame. Their objects stay bytes at
	// first, and go through Serializer one by one.
	StreamSerializer: &runtime.StreamSerializerInfo{
		EncodesAsText: true,
		Serializer:    json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{}),
		Framer:        json.Framer,
	},
})
