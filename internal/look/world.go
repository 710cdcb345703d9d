package look

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
)

const (
	mostObjects   = 8 << 10
	biggestObject = 8 << 10
	// mostAnnotation is how long an annotation may be that is kept.
	mostAnnotation = 256
	// mostOwners is how far owners are followed.
	mostOwners = 8
	// partial is the kind of an object of which only the metadata was asked for.
	partial = "PartialObjectMetadata"
)

// world is what is known of the objects. It is for one caller at a time.
type world struct {
	objects *lru.Cache // of *object, by resource, namespace and name
	byUID   *lru.Cache // of *object
	own     *lru.Cache // of *ownWrite, by resource and version, or by the UID of what was deleted
	old     *lru.Cache // of versions that a write of the program has replaced, by resource and version
	causes  *lru.Cache // of *happenings, by the root of objects
	all     happenings // of every object
}

func newWorld() *world {
	return &world{objects: lru.New(mostObjects), byUID: lru.New(mostObjects), own: lru.New(mostObjects), old: lru.New(mostObjects), causes: lru.New(mostObjects)}
}

// object is one as it was last seen.
type object struct {
	kind, key, namespace, version string
	uid, owner                    types.UID
	ownerName                     string
	target                        target // of the request that told it
	finalizers                    []string
	deleted                       time.Time
	gone                          bool
	fields                        []byte // JSON, nil if it is too big
	managers                      map[string]managed
}

// managed says when a client has written fields of an object, and how much they are.
type managed struct {
	at   int64
	size int
}

// name is what people call it.
func (o *object) name() string { return o.kind + " " + o.key }

// keyOf is an object's key: its name, after a namespace if it has one.
func keyOf(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }

// read returns what is kept of an object.
func (g *Glass) read(t target, content map[string]any) *object {
	u := &unstructured.Unstructured{Object: content}
	o := &object{kind: cmp.Or(g.kinds[t.resource], u.GetKind(), t.resource), key: keyOf(u.GetNamespace(), u.GetName()), namespace: u.GetNamespace(), target: t, finalizers: u.GetFinalizers(), version: u.GetResourceVersion(), uid: u.GetUID(), managers: map[string]managed{}}
	if at := u.GetDeletionTimestamp(); at != nil {
		o.deleted = at.Time
	}
	owner := metav1.GetControllerOfNoCopy(u)
	if owners := u.GetOwnerReferences(); owner == nil && len(owners) > 0 {
		owner = &owners[0]
	}
	if owner != nil {
		o.owner, o.ownerName = owner.UID, owner.Kind+" "+keyOf(o.namespace, owner.Name)
	}
	for _, m := range u.GetManagedFields() {
		if m.FieldsV1 != nil { // An entry of the subresource scale has no time.
			o.managers[m.Manager] = managed{max(ptr.Deref(m.Time, metav1.Time{}).Unix(), o.managers[m.Manager].at), o.managers[m.Manager].size + len(m.FieldsV1.GetRawBytes())}
		}
	}
	u.SetManagedFields(nil)
	annotations := u.GetAnnotations()
	maps.DeleteFunc(annotations, func(_, value string) bool { return len(value) > mostAnnotation })
	u.SetAnnotations(annotations)
	if t.resource == "secrets" {
		u.SetAnnotations(nil) // kubectl's last-applied-configuration has the data, too.
		delete(content, "data")
		delete(content, "stringData")
	}
	if u.GetKind() == partial {
		return o
	}
	if text, err := json.Marshal(content); err == nil && len(text) <= biggestObject {
		o.fields = text
	}
	return o
}

// learn notes how an object is now, and returns how it was, nil if it was not known. An older state
// changes nothing.
func (w *world) learn(t target, now *object) (before *object) {
	if before = w.known(t, now.key); before != nil {
		if order, err := resourceversion.CompareResourceVersion(now.version, before.version); err == nil && order < 0 {
			return before
		}
	}
	w.objects.Add(t.resource+" "+now.key, now)
	w.byUID.Add(now.uid, now)
	return before
}

func nameOf(content map[string]any) string { return text(content, "metadata", "name") }

// ownWrite is a write of the program that was answered: when it was sent, and how the object was
// before it, if the event of it was told first.
type ownWrite struct {
	began  time.Time
	told   bool
	before *object
}

// wrote notes, as soon as an answer is there, what the program has written: the event of it may be
// told before the answer. Unlike the others it may be called at any time.
func (w *world) wrote(x *exchange, answer []byte) {
	var written struct {
		metav1.PartialObjectMetadata
		Details struct{ UID types.UID }
	}
	if json.Unmarshal(answer, &written) != nil {
		return
	}
	for _, id := range []string{x.resource + " " + written.ResourceVersion, string(written.Details.UID)} {
		// The answer to a write that changes nothing has the version of an earlier one.
		if _, ok := w.own.Get(id); !ok {
			w.own.Add(id, &ownWrite{began: x.began})
		}
	}
}

// ownOf returns the write of the program that led to an event, nil if another client did.
func (w *world) ownOf(n note, o *object, isDeleted bool) *ownWrite {
	id := n.resource + " " + o.version
	if _, ok := w.own.Get(id); !ok && isDeleted {
		id = string(o.uid)
	}
	known, _ := w.own.Get(id)
	own, _ := known.(*ownWrite)
	if own == nil || !own.began.Before(n.Time) {
		return nil
	}
	return own
}

// before returns how an object was before a write that made it what it is now: the same if an earlier
// one did.
func (w *world) before(x *exchange, now *object) *object {
	known, _ := w.own.Get(x.resource + " " + now.version)
	switch own, _ := known.(*ownWrite); {
	case own != nil && !own.began.Equal(x.began):
		return now
	case own != nil && own.told:
		return own.before
	default:
		return w.known(x.target, now.key)
	}
}

// forget notes that an object is gone.
func (w *world) forget(t target, key string) {
	if o := w.last(t, key); o != nil {
		o.gone = true
	}
}

// last returns an object as it was last seen, or nil; known does unless it is gone.
func (w *world) last(t target, key string) *object {
	o, _ := w.objects.Get(t.resource + " " + key)
	last, _ := o.(*object)
	return last
}

func (w *world) known(t target, key string) *object {
	if last := w.last(t, key); last != nil && !last.gone {
		return last
	}
	return nil
}

// at returns an object as it was last seen, nil if it is gone.
func (w *world) at(o *object) *object {
	now := w.known(o.target, o.key)
	if now != nil && now.uid != o.uid {
		return nil
	}
	return now
}

// root is what stands for all objects of one owner: the UID and the name of the first owner, or the
// object's own.
func (w *world) root(o *object) (types.UID, string) {
	uid, name := o.uid, o.name()
	for range mostOwners {
		if o.owner == "" {
			break
		}
		uid, name = o.owner, o.ownerName
		owner, ok := w.byUID.Get(uid)
		if !ok {
			break
		}
		o = owner.(*object)
	}
	return uid, name
}

// writer says which other client made an object what it is, as far as managedFields tell.
func writer(before, now *object) string {
	var all []string
	for name, is := range now.managers {
		// Fields that another one took over leave the time as it was.
		if before == nil || is.at > before.managers[name].at || is.size > before.managers[name].size {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// text returns a field of an object that is a text, or "".
func text(content map[string]any, fields ...string) string {
	value, _, _ := unstructured.NestedString(content, fields...)
	return value
}
