package observer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
)

// Kind is what an Observer has to know of a kind of objects. main hands it over where it
// wires the kind.
type Kind struct {
	schema.GroupVersionKind
	// Resource is its name in paths, such as "foos".
	Resource string
	// Describe says in a few words what an object is like. It must take any value and not
	// panic; it may return "".
	Describe func(object any) string
	// Owned says that its objects are shown only if one of an observed kind controls
	// them: Deployments are many people's.
	Owned bool
	// Shown are the fields that may be shown besides a part of the metadata. What is not
	// named is hidden. nil is spec and status, whole.
	Shown Fields
}

// Fields are names of fields, each with the fields in it that are meant, nil for all. A
// list has the fields of its items.
type Fields map[string]Fields

// metadata is what is shown of every object's. Of the annotations those that begin with
// the group of an observed kind are shown.
var metadata = Fields{"name": nil, "namespace": nil, "uid": nil, "resourceVersion": nil, "generation": nil,
	"creationTimestamp": nil, "deletionTimestamp": nil, "finalizers": nil, "ownerReferences": nil, "labels": nil}

// wired is a kind that is observed.
type wired struct {
	Kind
	handled, queued, reconciled bool
	queue                       *queue // nil without Options.All
	// Where its objects are listed and watched, and the step of the last whole list. Both
	// are used while telling.
	place  place
	listed int64
}

// wire returns what is known of a kind. It panics if two cannot be told apart.
func (o *Observer) wire(k Kind) *wired {
	path := k.Group + "/" + k.Resource
	byName, byPath := o.kinds[k.Kind], o.kinds[path]
	switch {
	case k.Resource == "" || k.Describe == nil:
		panic(fmt.Sprintf("observer: %s has no Resource or no Describe", k.GroupVersionKind))
	case byName == nil && byPath == nil:
		byName = &wired{Kind: k}
		o.kinds[k.Kind], o.kinds[path] = byName, byName
	case byName != byPath || byName.GroupVersionKind != k.GroupVersionKind || byName.Owned != k.Owned || !reflect.DeepEqual(byName.Shown, k.Shown):
		panic(fmt.Sprintf("observer: %s and another Kind have one name or one path, %s, and differ: they could not be told apart", k.GroupVersionKind, path))
	}
	return byName
}

// mustBeQueue panics if keys would go where nobody sees them.
func (o *Observer) mustBeQueue(k Kind, queue controller.PriorityQueue) {
	if !o.queues[queue] {
		panic(fmt.Sprintf("observer: the handler of %s fills a queue that is not observed: give it the result of Observer.Queue", k.Kind))
	}
}

// belongs names the object whose reconcile an object leads to: itself, or the one that
// controls it. "" is none.
func (o *Observer) belongs(k *wired, object metav1.Object) string {
	if k.queued {
		return k.Kind.Kind + " " + keyOf(object.GetNamespace(), object.GetName())
	}
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil {
		return ""
	}
	of, ok := o.kinds[owner.Kind]
	if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || !ok || !of.queued || gv.Group != of.Group {
		return ""
	}
	return owner.Kind + " " + keyOf(object.GetNamespace(), owner.Name)
}

// keyOf is an object's key: its name, after a namespace if it has one.
func keyOf(namespace, name string) string { return cache.NewObjectName(namespace, name).String() }

// nameOf is the name in a key.
func nameOf(key string) string { return key[strings.LastIndex(key, "/")+1:] }

// describe says what an object is like and whose it is. shown is false for one that is
// none of the story's.
func (o *Observer) describe(k *wired, object any) (text string, shown bool) {
	meta, ok := object.(metav1.Object)
	if !ok {
		return "", false
	}
	text = k.Describe(object)
	if !k.Owned {
		return text, true
	}
	owner := o.belongs(k, meta)
	if owner == "" {
		return "no observed object controls it", false
	}
	kind, key, _ := strings.Cut(owner, " ")
	return "of " + kind + " " + nameOf(key) + ", " + text, true
}

// The longest texts that a step holds, in bytes.
const (
	objectLimit = 64 << 10
	bodyLimit   = 16 << 10
	wordsLimit  = 2 << 10
)

// render returns as JSON what may be shown of an object of a kind: nil for nothing, and
// for what is too long.
func (o *Observer) render(k *wired, object *unstructured.Unstructured, limit int) json.RawMessage {
	if object == nil || k == nil || k.Owned && o.belongs(k, object) == "" {
		return nil
	}
	fields := Fields{"spec": nil, "status": nil}
	if k.Shown != nil {
		fields = k.Shown
	}
	shown := fields.of(object.Object).(map[string]any)
	shown["apiVersion"], shown["kind"] = k.GroupVersion().String(), k.Kind.Kind
	meta, _ := metadata.of(object.Object["metadata"]).(map[string]any)
	if shown["metadata"] = meta; meta != nil {
		if ours := o.ours(object.GetAnnotations()); len(ours) > 0 {
			meta["annotations"] = ours
		}
	}
	text, err := json.Marshal(shown)
	if err != nil || len(text) > limit {
		return nil
	}
	return text
}

// of returns the part of a JSON value that the fields name.
func (f Fields) of(value any) any {
	switch value := value.(type) {
	case map[string]any:
		part := map[string]any{}
		for name, inner := range f {
			if field, ok := value[name]; ok && inner != nil {
				part[name] = inner.of(field)
			} else if ok {
				part[name] = field
			}
		}
		return part
	case []any:
		parts := make([]any, len(value))
		for i, item := range value {
			parts[i] = f.of(item)
		}
		return parts
	default:
		return nil
	}
}

func (o *Observer) ours(annotations map[string]string) map[string]string {
	ours := map[string]string{}
	for name, value := range annotations {
		for _, k := range o.kinds {
			if strings.HasPrefix(name, k.Group+"/") {
				ours[name] = value
			}
		}
	}
	return ours
}

// open returns an object of a store as JSON values, and nil for what is none.
func open(object any) *unstructured.Unstructured {
	if _, ok := object.(runtime.Object); !ok {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// decode returns the object in a body, and nil for what is none.
func decode(body []byte) *unstructured.Unstructured {
	var content map[string]any
	if err := utiljson.Unmarshal(body, &content); err != nil || content == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// cut shortens a text to a number of bytes and says how many there were.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:limit], ""), len(text))
}
