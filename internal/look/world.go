package look

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
)

const (
	mostObjects   = 8 << 10
	biggestObject = 8 << 10
	// mostAnnotation is how long an annotation may be that is kept.
	mostAnnotation = 256
	// mostOwners is how far owners are followed.
	mostOwners = 8
)

// world is what is known of the objects. It is for one caller at a time.
type world struct {
	objects *lru.Cache // of *object, by resource, namespace and name
	byUID   *lru.Cache // of *object
	own     *lru.Cache // of *ownWrite, by resource and version, or by the UID of what was deleted
	causes  *lru.Cache // of *happenings, by the root of objects
}

func newWorld() *world {
	return &world{lru.New(mostObjects), lru.New(mostObjects), lru.New(mostObjects), lru.New(mostObjects)}
}

// object is one as it was last seen.
type object struct {
	kind, key, version string
	uid, owner         types.UID
	fields             []byte // JSON, nil if it is too big
	managers           map[string]string
}

// name is what people call it.
func (o *object) name() string { return o.kind + " " + o.key }

// keyOf is an object's key: its name, after a namespace if it has one.
func keyOf(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }

// read returns what is kept of an object.
func read(content map[string]any) *object {
	u := &unstructured.Unstructured{Object: content}
	o := &object{kind: u.GetKind(), key: keyOf(u.GetNamespace(), u.GetName()), version: u.GetResourceVersion(), uid: u.GetUID(), managers: map[string]string{}}
	if owner := metav1.GetControllerOfNoCopy(u); owner != nil {
		o.owner = owner.UID
	} else if owners := u.GetOwnerReferences(); len(owners) > 0 {
		o.owner = owners[0].UID
	}
	for _, m := range u.GetManagedFields() {
		if m.Time != nil && m.FieldsV1 != nil {
			o.managers[m.Manager] = fmt.Sprint(o.managers[m.Manager], m.Time.Unix(), len(m.FieldsV1.GetRawBytes()), m.Subresource)
		}
	}
	u.SetManagedFields(nil)
	annotations := u.GetAnnotations()
	maps.DeleteFunc(annotations, func(_, value string) bool { return len(value) > mostAnnotation })
	u.SetAnnotations(annotations)
	if o.kind == "Secret" {
		u.SetAnnotations(nil) // kubectl's last-applied-configuration has the data, too.
		delete(content, "data")
		delete(content, "stringData")
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
func (w *world) ownOf(e *event, at time.Time, o *object, isDeleted bool) *ownWrite {
	id := e.resource + " " + o.version
	if _, ok := w.own.Get(id); !ok && isDeleted {
		id = string(o.uid)
	}
	known, _ := w.own.Get(id)
	own, _ := known.(*ownWrite)
	if own == nil || !own.began.Before(at) {
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
func (w *world) forget(t target, o *object) { w.objects.Remove(t.resource + " " + o.key) }

// known returns an object as it was last seen, or nil.
func (w *world) known(t target, key string) *object {
	o, _ := w.objects.Get(t.resource + " " + key)
	known, _ := o.(*object)
	return known
}

// root is what stands for all objects of one owner: the UID of the first owner, or the object's own.
func (w *world) root(o *object) types.UID {
	uid := o.uid
	for range mostOwners {
		if o.owner == "" {
			return uid
		}
		uid = o.owner
		owner, ok := w.byUID.Get(uid)
		if !ok {
			return uid
		}
		o = owner.(*object)
	}
	return uid
}

// writer says which other client made an object what it is, as far as managedFields tell.
func writer(before, now *object) string {
	var all []string
	for name, state := range now.managers {
		if before == nil || before.managers[name] != state {
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
