package main

import (
	"encoding/json"
	"fmt"
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

// sendList answers with a PizzaList, a ToppingList or a PartialObjectMetadataList. It writes one
// object after the other: as one text, all of it would be kept until a client has read it.
func (r *request) sendList(w *answerWriter, partial bool, objects []object, revision int64) {
	list := typeMeta(r.kind.name+"List", r.version)
	if partial {
		list = typeMeta(metadata+"List", metav1.SchemeGroupVersion)
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"},"items":[`, list.Kind, list.APIVersion, revision)
	separator := ""
	for _, o := range objects {
		fmt.Fprint(w, separator)
		if json.NewEncoder(w).Encode(r.represent(partial, o)) != nil {
			return // The client is gone.
		}
		separator = ","
	}
	fmt.Fprint(w, "]}")
}

func typeMeta(kind string, version schema.GroupVersion) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: version.String()}
}
