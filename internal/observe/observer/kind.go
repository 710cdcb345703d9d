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

// Kind describes a kind for an Observer. main passes it where it wires the kind.
type Kind struct {
	GVK schema.GroupVersionKind
	// Resource is the kind's name in URLs, such as "foos".
	Resource string
	// Describe summarizes an object in a few words. It must accept any value without a
	// panic; it may return "".
	Describe func(object any) string
	// Owned limits the kind to objects that an object of an observed kind controls: most
	// Deployments have other owners.
	Owned bool
	// Shown selects the visible fields, in addition to a part of the metadata. All other fields
	// are hidden. nil selects spec and status.
	Shown Fields
}

// groupResource returns "resource.group", as an informer names it.
func (k Kind) groupResource() string {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}.String()
}

// Fields selects fields by name, each with its selected fields, or nil for all of them. In a
// list it selects fields of the items.
type Fields map[string]Fields

// metadata selects the visible metadata of every object. An annotation is visible if its name
// begins with an observed kind's group.
var metadata = Fields{"name": nil, "namespace": nil, "uid": nil, "resourceVersion": nil, "generation": nil,
	"creationTimestamp": nil, "deletionTimestamp": nil, "finalizers": nil, "ownerReferences": nil, "labels": nil, "annotations": nil}

type wired struct {
	Kind
	isReconciled bool           // it has a queue
	queue        *observedQueue // nil without Options.All
	// The code that lists and watches the objects, and the step of the last complete list. Both
	// are used while steps are published.
	place  place
	listed int64
}

// wire registers a kind. It panics if the kind could be confused with a different one.
func (o *Observer) wire(k Kind) *wired {
	resource := k.GVK.Group + "/" + k.Resource
	byName, byPath := o.kinds[k.GVK.Kind], o.kinds[resource]
	if byName == nil && byPath == nil {
		byName = &wired{Kind: k}
		byPath = byName
		o.kinds[k.GVK.Kind], o.kinds[resource] = byName, byName
	}
	if byName != byPath || byName.GVK != k.GVK {
		panic(fmt.Sprintf("observer: %s and another Kind have one name or one path, %s: they could not be told apart", k.GVK, resource))
	}
	return byName
}

// belongs names the object that is reconciled because of object: object itself, or its
// controller. It returns "" if no reconcile follows.
func (o *Observer) belongs(k *wired, object metav1.Object) string {
	name, kind := object.GetName(), k
	if owner := metav1.GetControllerOfNoCopy(object); !k.isReconciled {
		if owner == nil {
			return ""
		}
		name, kind = owner.Name, o.kinds[owner.Kind]
		if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || kind == nil || !kind.isReconciled || gv.Group != kind.GVK.Group {
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

// describe summarizes an object and names its controller. shown is false if the object does not
// belong in the log.
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

// render returns the visible fields of an object as JSON, or nil if the object is hidden or the text
// is too long. It removes hidden annotations from the object.
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

// isForeign reports whether an annotation belongs to no observed group.
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

// open returns an object of a store as JSON values, or nil for any other value.
func open(object any) map[string]any {
	if _, ok := object.(runtime.Object); !ok {
		return nil
	}
	content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return content
}

// cut shortens a text to limit bytes and appends its full length.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:limit], ""), len(text))
}
