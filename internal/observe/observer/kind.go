package observer

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Kind is what an Observer has to know of a kind of objects. main hands it over where it
// wires the kind.
type Kind struct {
	GVK schema.GroupVersionKind
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

// groupResource is the plural and the group, as an informer has it.
func (k Kind) groupResource() string {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}.String()
}

// Fields are names of fields, each with the fields in it that are meant, nil for all. A
// list has the fields of its items.
type Fields map[string]Fields

// metadata is what is shown of every object's. Of the annotations those that begin with
// the group of an observed kind are shown.
var metadata = Fields{"name": nil, "namespace": nil, "uid": nil, "resourceVersion": nil, "generation": nil,
	"creationTimestamp": nil, "deletionTimestamp": nil, "finalizers": nil, "ownerReferences": nil, "labels": nil, "annotations": nil}

// wired is a kind that is observed.
type wired struct {
	Kind
	has   map[string]bool // "handler", "queue", "reconcile"
	queue *observedQueue  // nil without Options.All
	// Where its objects are listed and watched, and the step of the last whole list. Both
	// are used while steps are published.
	place  place
	listed int64
}

// wire returns what is known of a kind, which gets a handler, a queue or a reconcile. It
// panics if two could not be told apart.
func (o *Observer) wire(k Kind, part string) *wired {
	resource := k.GVK.Group + "/" + k.Resource
	byName, byPath := o.kinds[k.GVK.Kind], o.kinds[resource]
	if byName == nil && byPath == nil {
		byName = &wired{Kind: k, has: map[string]bool{}}
		byPath = byName
		o.kinds[k.GVK.Kind], o.kinds[resource] = byName, byName
	}
	switch {
	case k.Resource == "" || k.Describe == nil:
		panic(fmt.Sprintf("observer: %s has no Resource or no Describe", k.GVK))
	case byName != byPath || byName.GVK != k.GVK:
		panic(fmt.Sprintf("observer: %s and another Kind have one name or one path, %s: they could not be told apart", k.GVK, resource))
	case byName.has[part]:
		panic(fmt.Sprintf("observer: a second %s of %s: they could not be told apart", part, k.GVK.Kind))
	}
	byName.has[part] = true
	return byName
}

// belongs names the object whose reconcile an object leads to: itself, or the one that
// controls it. "" is none.
func (o *Observer) belongs(k *wired, object metav1.Object) string {
	name, kind := object.GetName(), k
	if owner := metav1.GetControllerOfNoCopy(object); !k.has["queue"] {
		if owner == nil {
			return ""
		}
		name, kind = owner.Name, o.kinds[owner.Kind]
		if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || kind == nil || !kind.has["queue"] || gv.Group != kind.GVK.Group {
			return ""
		}
	}
	if name == "" {
		return ""
	}
	return kind.GVK.Kind + " " + keyOf(object.GetNamespace(), name)
}

// keyOf is an object's key: its name, after a namespace if it has one.
func keyOf(namespace, name string) string { return cache.NewObjectName(namespace, name).String() }

// describe says what an object is like and whose it is. shown is false for one that is
// none of the log's.
func (o *Observer) describe(k *wired, object any) (text string, shown bool) {
	of, ok := object.(metav1.Object)
	if !ok {
		return "", false
	}
	if !k.Owned {
		return k.Describe(object), true
	}
	kind, key, owned := strings.Cut(o.belongs(k, of), " ")
	if !owned {
		return "no observed object controls it", false
	}
	return "of " + kind + " " + path.Base(key) + ", " + k.Describe(object), true
}

// The longest texts that a step holds, in bytes.
const (
	objectLimit = 64 << 10
	bodyLimit   = 16 << 10
	wordsLimit  = 2 << 10
)

// render returns as JSON what may be shown of an object of a kind: nil for nothing, and
// for what is too long. It takes the annotations of others out of the object.
func (o *Observer) render(k *wired, object map[string]any, limit int) json.RawMessage {
	if object == nil || k == nil || k.Owned && o.belongs(k, &unstructured.Unstructured{Object: object}) == "" {
		return nil
	}
	annotations, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", "annotations")
	if annotations, ok := annotations.(map[string]any); ok {
		maps.DeleteFunc(annotations, o.isForeign)
	}
	fields := Fields{"spec": nil, "status": nil}
	if k.Shown != nil {
		fields = k.Shown
	}
	shown := fields.of(object).(map[string]any)
	shown["apiVersion"], shown["kind"], shown["metadata"] = k.GVK.GroupVersion().String(), k.GVK.Kind, metadata.of(object["metadata"])
	text, err := json.Marshal(shown)
	if err != nil || len(text) > limit {
		return nil
	}
	return text
}

// isForeign reports whether an annotation is of no group that is observed.
func (o *Observer) isForeign(name string, _ any) bool {
	group, _, _ := strings.Cut(name, "/")
	for _, k := range o.kinds {
		if k.GVK.Group == group {
			return false
		}
	}
	return true
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

// open returns an object of a store as JSON values, and nil for what is none.
func open(object any) map[string]any {
	if _, ok := object.(runtime.Object); !ok {
		return nil
	}
	content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return content
}

// cut shortens a text to a number of bytes and says how many there were.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:limit], ""), len(text))
}
