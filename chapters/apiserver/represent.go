package main

import (
	"mime"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
// clients of Kubernetes put what they like best in front. All is JSON; a client that wants nothing
// but protobuf gets 406.
func negotiate(r *request) (form, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, parameters, err := mime.ParseMediaType(clause)
		isJSON := mediaType == runtime.ContentTypeJSON || mediaType == "application/*" || mediaType == "*/*"
		as := form(strings.TrimSuffix(parameters["as"], "List"))
		isMeta := parameters["g"] == metav1.GroupName && parameters["v"] == "v1"
		switch {
		case accept == "", err == nil && isJSON && as == whole:
			return whole, nil
		case err == nil && isJSON && isMeta && (as == table || as == metadata):
			return as, nil
		}
	}
	return "", refusal(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "only JSON can be served, as the object, a Table or PartialObjectMetadata of meta.k8s.io/v1")
}

// represent shows one object that is stored.
func (r *request) represent(as form, o object) any {
	if as == table {
		t := r.emptyTable(metav1.ListMeta{ResourceVersion: o.GetResourceVersion()})
		t.Rows = append(t.Rows, r.row(o))
		return t
	}
	return r.item(as, o)
}

// item is what is in a list for an object.
func (r *request) item(as form, o object) any {
	switch as {
	case table:
		return r.row(o)
	case metadata:
		return partial(o)
	default:
		return to(r.version, o)
	}
}

func partial(o object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(o)
	p.TypeMeta = typeMeta(string(metadata), metav1.SchemeGroupVersion)
	return p
}

// sendList answers with a PizzaList, a ToppingList, a PartialObjectMetadataList or a Table.
func (r *request) sendList(w *answerWriter, as form, objects []object, about metav1.ListMeta) error {
	// Items must not be nil: clients expect a list.
	empty := any(metav1.List{TypeMeta: typeMeta(r.kind.name+"List", r.version), ListMeta: about, Items: []runtime.RawExtension{}})
	switch as {
	case table:
		empty = r.emptyTable(about)
	case metadata:
		empty = metav1.List{TypeMeta: typeMeta(string(metadata)+"List", metav1.SchemeGroupVersion), ListMeta: about, Items: []runtime.RawExtension{}}
	}
	return w.sendList(empty, objects, func(o object) any { return r.item(as, o) })
}

// emptyTable and row are what kubectl prints: the server knows the columns, the client does
// not have to.
func (r *request) emptyTable(about metav1.ListMeta) *metav1.Table {
	return &metav1.Table{
		TypeMeta: typeMeta(string(table), metav1.SchemeGroupVersion), ListMeta: about, Rows: []metav1.TableRow{},
		ColumnDefinitions: []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name"}, r.kind.column, {Name: "Age", Type: "date"},
		},
	}
}

func (r *request) row(o object) metav1.TableRow {
	age := metatable.ConvertToHumanReadableDateType(o.GetCreationTimestamp())
	row := metav1.TableRow{Cells: []any{o.GetName(), r.kind.cell(o), age}}
	// What comes with a row: kubectl reads the namespace there, or sorts by it.
	switch metav1.IncludeObjectPolicy(r.URL.Query().Get("includeObject")) {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		row.Object.Object = to(r.version, o)
	default:
		row.Object.Object = partial(o)
	}
	return row
}

func typeMeta(kind string, version schema.GroupVersion) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: version.String()}
}
