package look

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

	"example.com/byhand/internal/trace"
)

// builtIn has the types that protobuf can be read of: those of client-go, and metadata alone of any
// kind.
var builtIn = runtime.NewScheme()

func init() {
	utilruntime.Must(scheme.AddToScheme(builtIn))
	utilruntime.Must(metav1.AddMetaToScheme(builtIn))
}

var decoder = serializer.NewCodecFactory(builtIn).UniversalDeserializer()

// readable returns what a client accepts if all of that can be read, else JSON.
func (g *Glass) readable(x *exchange, accept string) string {
	for one := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(strings.TrimSpace(one), ";")
		switch {
		case kind == runtime.ContentTypeJSON, kind == "*/*", kind == "":
		case kind == runtime.ContentTypeProtobuf && (x.partial || builtIn.IsGroupRegistered(x.Target.Group) && !strings.Contains(parameters, "as=")):
		default:
			if _, again := g.unreadable.LoadOrStore(x.resource+kind, true); !again {
				g.remark("look", "%s of %s cannot be read here: the API server is asked for JSON", kind, x.resource)
			}
			return runtime.ContentTypeJSON
		}
	}
	return accept
}

// protobufMagic is what a body in that encoding begins with.
var protobufMagic = []byte("k8s\x00")

// decode returns the object in a body, nil for what is none.
func decode(text []byte) (content map[string]any) {
	if !bytes.HasPrefix(text, protobufMagic) {
		_ = utiljson.Unmarshal(text, &content)
		return content
	}
	if object, _, err := decoder.Decode(text, nil, nil); err == nil {
		content, _ = runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	}
	return content
}

// decodeMeta returns what every object has, the zero value for what is none. It takes far less than decode.
func decodeMeta(text []byte) (o metav1.PartialObjectMetadata) {
	encoded, isProtobuf := bytes.CutPrefix(text, protobufMagic)
	if !isProtobuf {
		_ = utiljson.Unmarshal(text, &o)
		return o
	}
	var unknown runtime.Unknown // The metadata are the first field of every kind.
	if unknown.Unmarshal(encoded) == nil && o.Unmarshal(unknown.Raw) == nil {
		o.Kind = unknown.Kind
	}
	return o
}

// content returns the object that came; event is "" if it was no event.
func (n note) content() (event watch.EventType, object []byte) {
	if n.What != trace.Received {
		return "", n.body
	}
	var read metav1.WatchEvent
	if bytes.HasPrefix(n.body, []byte("{")) {
		_ = json.Unmarshal(n.body, &read)
	} else {
		_ = read.Unmarshal(n.body)
	}
	return watch.EventType(read.Type), read.Object.Raw
}

// splitOf says where the events of a watch end: each is a line, or in protobuf comes after its length.
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
