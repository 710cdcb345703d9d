package main

import (
	"mime"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
)

// form is what a client wants to see of an object.
type form string

const (
	whole form = ""
	// table is for people: kubectl get.
	table form = "Table"
	// metadata is for controllers that need no more: the garbage collector.
	metadata form = "PartialObjectMetadata"
)

// negotiate chooses among what a client accepts. The first one counts that can be served:
// clients of Kubernetes put what they like best in front. All is JSON; who wants nothing
// but protobuf gets 406.
func negotiate(r *request) (form, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if accept == "" {
		return whole, nil
	}
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, parameters, err := mime.ParseMediaType(clause)
		isJSON := mediaType == runtime.ContentTypeJSON || mediaType == "application/*" || mediaType == "*/*"
		if err != nil || !isJSON {
			continue
		}
		as := strings.TrimSuffix(parameters["as"], "List")
		if as == "" {
			return whole, nil
		}
		isMeta := parameters["g"] == metav1.GroupName && parameters["v"] == "v1"
		if as := form(as); isMeta && (as == table || as == metadata) {
			return as, nil
		}
	}
	return "", &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only JSON can be served, as the object, a Table or PartialObjectMetadata of meta.k8s.io/v1",
	}}
}

// represent shows one object that is stored.
func (r *request) represent(as form, o object) any {
	switch as {
	case table:
		return r.table([]object{o}, metav1.ListMeta{ResourceVersion: o.GetResourceVersion()})
	case metadata:
		partial := meta.AsPartialObjectMetadata(o)
		partial.TypeMeta = typeMeta(string(metadata), metav1.SchemeGroupVersion)
		return partial
	default:
		return fromHub(o, r.version)
	}
}

// list is a PizzaList, a ToppingList or a PartialObjectMetadataList.
type list struct {
	metav1.TypeMeta `json:""`
	metav1.ListMeta `json:"metadata"`
	// Items is never nil: clients expect a list.
	Items []any `json:"items"`
}

// representList shows the objects that a list has.
func (r *request) representList(as form, objects []object, about metav1.ListMeta) any {
	if as == table {
		return r.table(objects, about)
	}
	out := list{ListMeta: about, Items: make([]any, 0, len(objects))}
	out.TypeMeta = typeMeta(r.kind.name+"List", r.kind.gvk(r.version).GroupVersion())
	if as == metadata {
		out.TypeMeta = typeMeta(string(metadata)+"List", metav1.SchemeGroupVersion)
	}
	for _, object := range objects {
		out.Items = append(out.Items, r.represent(as, object))
	}
	return out
}

// table shows objects as kubectl prints them: the server knows the columns, the client
// does not have to.
func (r *request) table(objects []object, about metav1.ListMeta) *metav1.Table {
	out := &metav1.Table{ListMeta: about, Rows: make([]metav1.TableRow, 0, len(objects))}
	out.TypeMeta = typeMeta(string(table), metav1.SchemeGroupVersion)
	out.ColumnDefinitions = append(out.ColumnDefinitions, metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name"})
	out.ColumnDefinitions = append(out.ColumnDefinitions, r.kind.columns...)
	out.ColumnDefinitions = append(out.ColumnDefinitions, metav1.TableColumnDefinition{Name: "Age", Type: "date"})
	for _, object := range objects {
		cells := append([]any{object.GetName()}, r.kind.cells(object)...)
		age := duration.HumanDuration(time.Since(object.GetCreationTimestamp().Time))
		out.Rows = append(out.Rows, metav1.TableRow{Cells: append(cells, age), Object: r.rowObject(object)})
	}
	return out
}

// rowObject is what comes with a row: kubectl reads the namespace there, or sorts by it.
func (r *request) rowObject(o object) runtime.RawExtension {
	switch metav1.IncludeObjectPolicy(r.URL.Query().Get("includeObject")) {
	case metav1.IncludeNone:
		return runtime.RawExtension{}
	case metav1.IncludeObject:
		return runtime.RawExtension{Object: fromHub(o, r.version)}
	default:
		return runtime.RawExtension{Object: r.represent(metadata, o).(*metav1.PartialObjectMetadata)}
	}
}

func typeMeta(kind string, version schema.GroupVersion) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: version.String()}
}
