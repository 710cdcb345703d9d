package proxy

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"

	"example.com/byhand/internal/observe/wire"
)

const (
	mostObjects    = 8 << 10
	mostHappenings = 8 << 10
	biggestObject  = 8 << 10
	// mostAnnotation is how long an annotation may be that is kept.
	mostAnnotation = 256
	// mostOwners is how far owners are followed.
	mostOwners = 8
	// partial is the kind of an object of which only the metadata was asked for.
	partial = "PartialObjectMetadata"
)

// recent has the newest values by their keys. It is safe for concurrent use.
type recent[T any] struct{ *lru.Cache }

func newRecent[T any]() recent[T] { return recent[T]{lru.New(mostObjects)} }

// of returns the zero value for what is not known.
func (r recent[T]) of(key string) T {
	known, _ := r.Get(key)
	value, _ := known.(T)
	return value
}

// world is what is known of the objects. It is for one caller at a time.
type world struct {
	objects recent[*object] // by resource and key
	byUID   recent[*object]
	own     recent[time.Time] // when the program's write began, by the resource and version that it made, or by the UID of what it deleted
	made    recent[string]    // the version that the program's last write has made of an object, by resource and key
	sent    recent[*write]    // the last ones, by method, path and name
	// happened has the newest events in the order in which they came.
	happened []happening
	busy     time.Time // since when the program has sent without a break
	lastSent time.Time
}

func newWorld() *world {
	return &world{objects: newRecent[*object](), byUID: newRecent[*object](), own: newRecent[time.Time](), made: newRecent[string](), sent: newRecent[*write]()}
}

// object is one as it was last seen.
type object struct {
	metav1.PartialObjectMetadata // without what is long
	resource                     string
	gone, deleted                bool        // deleted: an event said so
	heard                        bool        // an event or a list had this version
	fields                       []byte      // JSON, nil if it is too big
	family                       []types.UID // its own UID and its owner's
	selectors                    []selector
	// by wrote it last, and in that second, as far as managedFields tell.
	by string
	at int64
}

func (o *object) key() string { return keyOf(o.Namespace, o.Name) }

// String is what people call it.
func (o *object) String() string { return o.Kind + " " + o.key() }

// keyOf is an object's key: its name, after a namespace if it has one.
func keyOf(namespace, name string) string { return cache.NewObjectName(namespace, name).String() }

// read returns what is kept of an object.
func (x *exchange) read(meta metav1.PartialObjectMetadata, content map[string]any) *object {
	o := &object{resource: x.resource, PartialObjectMetadata: meta}
	for _, m := range o.ManagedFields { // That of the subresource scale has no time.
		if at := ptr.Deref(m.Time, metav1.Time{}).Unix(); at >= o.at {
			o.by, o.at = m.Manager, at
		}
	}
	o.ManagedFields = nil
	if o.by != "" {
		o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: o.by, Time: new(metav1.Unix(o.at, 0))}}
	}
	maps.DeleteFunc(o.Annotations, func(_, value string) bool { return len(value) > mostAnnotation })
	u := unstructured.Unstructured{Object: content}
	u.SetManagedFields(o.ManagedFields)
	u.SetAnnotations(o.Annotations)
	if x.resource == "secrets" {
		u.SetAnnotations(nil) // kubectl's last-applied-configuration has the data, too.
		delete(content, "data")
		delete(content, "stringData")
	}
	if text, err := json.Marshal(content); err == nil && len(text) <= biggestObject && !x.partial && o.Kind != partial {
		o.fields = text
	}
	o.selectors = selectors(content["spec"])
	o.family = slices.DeleteFunc([]types.UID{o.UID, controllerOf(o).UID}, func(uid types.UID) bool { return uid == "" })
	o.Kind, o.Annotations = cmp.Or(x.kind, o.Kind, x.resource), nil
	return o
}

// recorded is what a recording has of an object: its fields, or only its metadata.
func (o *object) recorded() json.RawMessage {
	if o.fields != nil {
		return o.fields
	}
	part := o.PartialObjectMetadata
	part.Kind = partial
	text, _ := json.Marshal(part) // It cannot fail.
	return text
}

// learn notes how an object is now, and returns how it was, nil if it was not known. An older state
// changes nothing.
func (w *world) learn(now *object) (before *object) {
	if before = w.known(now.resource, now.key()); before != nil && isOlder(now.ResourceVersion, before.ResourceVersion) {
		return before
	}
	now.heard = before != nil && before.heard && before.ResourceVersion == now.ResourceVersion
	w.objects.Add(now.resource+" "+now.key(), now)
	w.byUID.Add(string(now.UID), now)
	return before
}

// see learns of the object in a text. One that is known in that version is not decoded again: most come
// twice, in the answer to a write and in the event of it.
func (w *world) see(x *exchange, meta metav1.PartialObjectMetadata, text []byte) (now, before *object) {
	before = w.known(x.resource, keyOf(meta.Namespace, meta.Name))
	if before != nil && (before.fields != nil || x.partial) && before.ResourceVersion == meta.ResourceVersion {
		return before, before
	}
	now = x.read(meta, wire.Decode(text))
	return now, w.learn(now)
}

// sends notes that the program sent a request.
func (w *world) sends(at time.Time) {
	if at.Sub(w.lastSent) > aBreak {
		w.busy = at
	}
	w.lastSent = at
}

func isOlder(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// known returns an object as it was last seen, nil if it is gone.
func (w *world) known(resource, key string) *object {
	if o := w.objects.of(resource + " " + key); o != nil && !o.gone {
		return o
	}
	return nil
}

// wrote notes, as soon as an answer is there, what the program has written: the event of it may be
// told before the answer. Unlike the others it may be called at any time.
func (w *world) wrote(x *exchange, answer []byte) {
	id := x.resource + " " + x.answer.ResourceVersion
	if x.Method == http.MethodDelete {
		id = cmp.Or(text(wire.Decode(answer), "details", "uid"), id)
	}
	if isReleased(x.answer) {
		w.own.Add(string(x.answer.UID), x.At)
	}
	// The answer to a write that changes nothing has the version of an earlier one.
	if w.own.of(id).IsZero() {
		w.own.Add(id, x.At)
	}
}

// isReleased reports whether an object ceases to exist with the write that was answered so.
func isReleased(o metav1.PartialObjectMetadata) bool {
	return o.DeletionTimestamp != nil && len(o.Finalizers) == 0 && ptr.Deref(o.DeletionGracePeriodSeconds, 0) == 0
}

// isOwn reports whether a write of the program led to an event.
func (w *world) isOwn(n note, o *object) bool {
	began := cmp.Or(w.own.of(o.resource+" "+o.ResourceVersion), w.own.of(string(o.UID)))
	return !began.IsZero() && began.Before(n.Time)
}

// controllerOf is the owner that controls an object, else its first one, the zero value for none.
func controllerOf(o *object) metav1.OwnerReference {
	if len(o.OwnerReferences) == 0 {
		return metav1.OwnerReference{}
	}
	return ptr.Deref(metav1.GetControllerOfNoCopy(o), o.OwnerReferences[0])
}

// root names the first owner of an object, or the object itself.
func (w *world) root(o *object) (name string) {
	name = o.String()
	for range mostOwners { // Owners may go round in a circle.
		owner := controllerOf(o)
		if owner.UID == "" {
			break
		}
		name = owner.Kind + " " + keyOf(o.Namespace, owner.Name)
		if o = w.byUID.of(string(owner.UID)); o == nil {
			break
		}
	}
	return name
}

// text returns a field of an object that is a text, or "".
func text(content map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(content, fields...)
	return value
}
