package main

import (
	"mime"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// metadata is what controllers get that need no more: the garbage collector.
const metadata = "PartialObjectMetadata"

// negotiate chooses among what a client accepts. The first one counts that can be served:
// clients of Kubernetes put what they like best in front. All is JSON; a client that wants nothing
// but protobuf gets 406.
func negotiate(r *request) (partial bool, err error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, parameters, err := mime.ParseMediaType(clause)
		isJSON := mediaType == runtime.ContentTypeJSON || mediaType == "application/*" || mediaType == "*/*"
		as := strings.TrimSuffix(parameters["as"], "List")
		isMeta := parameters["g"] == metav1.GroupName && parameters["v"] == "v1"
		switch {
		case accept == "", err == nil && isJSON && as == "":
			return false, nil
		case err == nil && isJSON && isMeta && as == metadata:
			return true, nil
		}
	}
	return false, refusal(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "only JSON can be served, as the object or PartialObjectMetadata of meta.k8s.io/v1")
}

// represent shows one object that is stored, also in a list.
func (r *request) represent(partial bool, o object) runtime.Object {
	if !partial {
		return to(r.version, o)
	}
	p := meta.AsPartialObjectMetadata(o)
	p.TypeMeta = typeMeta(metadata, metav1.SchemeGroupVersion)
	return p
}

// sendList answers with a PizzaList, a ToppingList or a PartialObjectMetadataList.
func (r *request) sendList(w *answerWriter, partial bool, objects []object, about metav1.ListMeta) error {
	// Items must not be nil: clients expect a list.
	list := metav1.List{TypeMeta: typeMeta(r.kind.name+"List", r.version), ListMeta: about, Items: []runtime.RawExtension{}}
	if partial {
		list.TypeMeta = typeMeta(metadata+"List", metav1.SchemeGroupVersion)
	}
	for _, o := range objects {
		list.Items = append(list.Items, runtime.RawExtension{Object: r.represent(partial, o)})
	}
	return w.send(http.StatusOK, list)
}

func typeMeta(kind string, version schema.GroupVersion) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: version.String()}
}
