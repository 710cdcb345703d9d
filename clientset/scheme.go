package clientset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// How a Foo becomes bytes, and bytes become a Foo, in the order of a request:
//
//  1. Body(foo). The encoder asks the Scheme for the kind of *v1alpha1.Foo, writes it into
//     apiVersion and kind, and writes the struct as JSON by its tags.
//  2. VersionedParams(&opts, ParameterCodec). The options become the query string.
//  3. Do(ctx) sends the request. The reply's content type decides which decoder reads it.
//  4. Into(result). The decoder reads apiVersion and kind, and looks up their Go type in the Scheme.
//     It is the type of result, or metav1.Status, which Into returns as an error. The decoder reads
//     the JSON into result and clears apiVersion and kind, since the Go type says the same.
//     In a list, it clears them only in the list itself, not in the items.
//  5. Watch(ctx) does the same for each event of the stream, for as long as it is open.
//
// A JSON value that the Go field cannot hold, such as 3000000000 in an int32, is an error
// in 4 and 5 (informer/doc.go describes the consequence for a watch).

// Scheme maps Go types to their group, version and kind, for this client alone. Adding
// them to client-go's global scheme.Scheme would change every other client in the process.
var Scheme = runtime.NewScheme()

// Codecs encodes and decodes the types in Scheme as JSON, or as CBOR (binary) if
// client-go's CBOR feature gates are on (off in v0.37).
var Codecs = serializer.NewCodecFactory(Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))

// ParameterCodec turns an options struct into a query string.
var ParameterCodec = metav1.ParameterCodec

func init() {
	utilruntime.Must(examplesv1alpha1.AddToScheme(Scheme))
	utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(Scheme))
}
