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
	// mostAnnotation is the longest annotation value that is kept.
	mostAnnotation = 256
	// partial is the kind of an object that was requested as metadata only.
	partial = "PartialObjectMetadata"
)

// recent has the newest values by key. It is safe for concurrent use.
type recent[T any] struct{ *lru.Cache }

func newRecent[T any]() recent[T] { return recent[T]{lru.New(mostObjects)} }

// of returns the zero value for an unknown key.
func (r recent[T]) of(key string) T {
	known, _ := r.Get(key)
	value, _ := known.(T)
	return value
}

// world has the known objects. Only wrote may be called concurrently.
type world struct {
	objects recent[*object] // by resource and key
	byUID   recent[*object]
	own     recent[time.Time] // start of the program's write, by resource and version, or by deleted UID
	made    recent[string]    // version from the program's last write of an object, by resource and key
	sent    recent[*write]    // the last writes, by exchange.key
	// happened has the newest events, in the order of arrival.
	happened []happening
	busy     time.Time // since when the program has sent without a break
	lastSent time.Time
}

func newWorld() *world {
	return &world{objects: newRecent[*object](), byUID: newRecent[*object](), own: newRecent[time.Time](), made: newRecent[string](), sent: newRecent[*write]()}
}

type object struct {
	metav1.PartialObjectMetadata // without annotations and old managedFields
	resource                     string
	gone                         bool
	heard                        bool            // the program has received this version
	fields                       json.RawMessage // all of it if whole, else only the metadata
	whole                        bool
	family                       []types.UID // its own UID and its owner's
	selectors                    []selector
	// by is the last writer, and at its second, as far as managedFields show.
	by string
	at int64
}

func (o *object) key() string { return keyOf(o.Namespace, o.Name) }

// String returns the kind and the key.
func (o *object) String() string { return o.Kind + " " + o.key() }

// keyOf returns an object's key: namespace/name, or the name of a cluster-scoped object.
func keyOf(namespace, name string) string { return cache.NewObjectName(namespace, name).String() }

// read returns the parts of an object that are kept.
func (x *exchange) read(meta metav1.PartialObjectMetadata, content map[string]any) *object {
	o := &object{resource: x.resource, PartialObjectMetadata: meta}
	for _, m := range o.ManagedFields { // The entry of the subresource scale has no time.
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
		u.SetAnnotations(nil) // kubectl's last-applied-configuration contains the data, too.
		delete(content, "data")
		delete(content, "stringData")
	}
	o.Annotations = nil
	o.fields, _ = json.Marshal(content) // It cannot fail.
	if o.whole = len(o.fields) <= biggestObject && !x.partial && o.Kind != partial; !o.whole {
		o.Kind = partial
		o.fields, _ = json.Marshal(o.PartialObjectMetadata)
	}
	o.selectors = selectors(content["spec"])
	o.family = slices.DeleteFunc([]types.UID{o.UID, controllerOf(o).UID}, func(uid types.UID) bool { return uid == "" })
	o.Kind = cmp.Or(x.kind, o.Kind, x.resource)
	return o
}

// learn stores an object, and returns its previous version, nil if not known. It does not store an
// older version.
func (w *world) learn(now *object) (before *object) {
	if before = w.known(now.resource, now.key()); before != nil && isOlder(now.ResourceVersion, before.ResourceVersion) {
		return before
	}
	if last := w.objects.of(now.resource + " " + now.key()); last != nil && last.ResourceVersion == now.ResourceVersion {
		now.heard, now.gone = last.heard, last.gone
	}
	w.objects.Add(now.resource+" "+now.key(), now)
	w.byUID.Add(string(now.UID), now)
	return before
}

// see stores the object in a message. It does not decode a known version again: most versions come
// twice, in the response to a write and in its event.
func (w *world) see(x *exchange, meta metav1.PartialObjectMetadata, text []byte) (now, before *object) {
	last := w.objects.of(x.resource + " " + keyOf(meta.Namespace, meta.Name))
	if last != nil && (last.whole || x.partial) && last.ResourceVersion == meta.ResourceVersion {
		return last, last
	}
	now = x.read(meta, wire.Decode(text))
	return now, w.learn(now)
}

// sends records the time of a request.
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

// known returns an object as last seen, nil if it is unknown or gone.
func (w *world) known(resource, key string) *object {
	if o := w.objects.of(resource + " " + key); o != nil && !o.gone {
		return o
	}
	return nil
}

// wrote records the result of a write as soon as the response arrives: its event may be logged before
// the response. Unlike the other methods it may be called at any time.
func (w *world) wrote(x *exchange, answer []byte) {
	x.answer = wire.Metadata(answer)
	id := x.resource + " " + x.answer.ResourceVersion
	if x.Method == http.MethodDelete {
		uid, _, _ := unstructured.NestedString(wire.Decode(answer), "details", "uid")
		id = cmp.Or(uid, id)
	}
	if isReleased(x.answer) {
		w.own.Add(string(x.answer.UID), x.At)
	}
	// The response to a write that changes nothing has the version of an earlier write.
	if w.own.of(id).IsZero() {
		w.own.Add(id, x.At)
	}
}

// isReleased reports whether the write that returned o ended the object's existence.
func isReleased(o metav1.PartialObjectMetadata) bool {
	return o.DeletionTimestamp != nil && len(o.Finalizers) == 0 && ptr.Deref(o.DeletionGracePeriodSeconds, 0) == 0
}

// isOwn reports whether a write of the program caused an event.
func (w *world) isOwn(n note, o *object) bool {
	began := cmp.Or(w.own.of(o.resource+" "+o.ResourceVersion), w.own.of(string(o.UID)))
	return !began.IsZero() && began.Before(n.Time)
}

// controllerOf returns the controlling owner, else the first owner, else the zero value.
func controllerOf(o *object) metav1.OwnerReference {
	if len(o.OwnerReferences) == 0 {
		return metav1.OwnerReference{}
	}
	return ptr.Deref(metav1.GetControllerOfNoCopy(o), o.OwnerReferences[0])
}
