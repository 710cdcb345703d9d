package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// A Scheme is the first registry: Go type ↔ GVK. It answers two questions: which Go type
// holds this kind (New), and which kind is this Go value (ObjectKinds)? It is filled at
// compile time. clientset/scheme.go has the Scheme of Foos and Projects.
//
// scheme has only the kinds that every server sends for any resource: above all Status, the
// response to a failed request, and WatchEvent, the elements of a watch. If a Status were
// decoded to an Unstructured, an error would lack the server's message, and an error in a
// watch would look like an object.
var scheme = runtime.NewScheme()

func init() { metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) }

// creater creates the Go value that a response is decoded into: scheme's type for the kind,
// or an Unstructured. These eight lines make a client dynamic: a typed client fails here,
// with `no kind "…" is registered`.
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

// codec decodes responses and encodes bodies. It supports only JSON, which every kind has.
// codec_test.go runs each of its steps. The two other content types:
//
//   - Protobuf has numbers instead of field names. Only generated Go types map the numbers, so
//     neither a custom resource nor an Unstructured can be protobuf.
//   - CBOR is binary JSON, so every kind supports it. At v0.37 it is behind feature gates, in
//     client-go and in the API server.
//
// The codec does not convert. An API server's Scheme also converts between a kind's versions
// and sets defaults. A client has no such functions, and a converting codec asks the Scheme
// for the version __internal, which only servers have.
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
