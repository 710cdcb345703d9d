package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// builtIn has the types that can be decoded from protobuf: client-go's types, and the metadata of any
// kind.
var builtIn = runtime.NewScheme()

func init() {
	utilruntime.Must(scheme.AddToScheme(builtIn))
	utilruntime.Must(metav1.AddMetaToScheme(builtIn))
}

var decoder = serializer.NewCodecFactory(builtIn).UniversalDeserializer()

// IsBuiltIn reports whether objects of this group can be decoded from protobuf.
func IsBuiltIn(group string) bool { return builtIn.IsGroupRegistered(group) }

// protobufMagic is the prefix of each protobuf body.
var protobufMagic = []byte("k8s\x00")

// Decode returns the object in a body, nil if there is no object.
func Decode(body []byte) (content map[string]any) {
	if !bytes.HasPrefix(body, protobufMagic) {
		_ = utiljson.Unmarshal(body, &content)
		return content
	}
	if object, _, err := decoder.Decode(body, nil, nil); err == nil {
		content, _ = runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	}
	return content
}

// JSON returns a body in JSON.
func JSON(body []byte) []byte {
	if bytes.HasPrefix(body, protobufMagic) {
		body, _ = json.Marshal(Decode(body))
	}
	return body
}

// Metadata returns the metadata of the object in a body, zero if there is no object. It takes far less
// time than Decode.
func Metadata(body []byte) (o metav1.PartialObjectMetadata) {
	encoded, isProtobuf := bytes.CutPrefix(body, protobufMagic)
	if !isProtobuf {
		_ = utiljson.Unmarshal(body, &o)
		return o
	}
	var unknown runtime.Unknown // The metadata are the first field of every kind.
	if unknown.Unmarshal(encoded) == nil && o.Unmarshal(unknown.Raw) == nil {
		o.Kind = unknown.Kind
	}
	return o
}

// Event returns the type of an event of a watch, and its object as a body.
func Event(body []byte) (watch.EventType, []byte) {
	var read metav1.WatchEvent
	if bytes.HasPrefix(body, []byte("{")) {
		_ = json.Unmarshal(body, &read)
	} else {
		_ = read.Unmarshal(body)
	}
	return watch.EventType(read.Type), read.Object.Raw
}

// splitOf returns a function that splits a watch into events: each is a line, or in protobuf comes after
// its length.
func splitOf(contentType string) bufio.SplitFunc {
	if !strings.HasPrefix(contentType, runtime.ContentTypeProtobuf) {
		return bufio.ScanLines
	}
	return func(data []byte, _ bool) (size int, event []byte, err error) {
		if len(data) < 4 {
			return 0, nil, nil
		}
		if size = 4 + int(binary.BigEndian.Uint32(data)); len(data) < size {
			return 0, nil, nil
		}
		return size, data[4:size], nil
	}
}
