package clientset

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Scheme maps Go types to their group, version and kind, for this client alone.
// Adding to client-go's global scheme.Scheme instead would change every other
// client in the process.
var Scheme = runtime.NewScheme()

// Codecs encodes and decodes the types that Scheme knows. A reply's apiVersion
// and kind decide which Go type it becomes. They speak JSON, and CBOR to whoever
// switches client-go's feature gates for that on (at v0.37 they are off).
var Codecs = serializer.NewCodecFactory(Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))

// ParameterCodec turns an options struct into a query string. The options are
// the same for every group, so the meta/v1 codec serves them all.
var ParameterCodec = metav1.ParameterCodec

func init() {
	utilruntime.Must(examplesv1alpha1.AddToScheme(Scheme))
	utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(Scheme))
	// Scale, which is what the scale subresource of any kind sends and takes.
	utilruntime.Must(autoscalingv1.AddToScheme(Scheme))
}
