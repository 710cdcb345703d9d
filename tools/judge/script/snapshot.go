package script

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Snapshot is the stored state: one entry for each object ("deployments a") and for each of its values
// ("deployments a .spec.replicas").
type Snapshot map[string]string

// AnObject is the value of an object's own entry.
const AnObject, dying = "an object", "an object that is being deleted"

// Add adds an object under a name. It includes only values that a manager has written for which kept returns
// true, according to metadata.managedFields.
func (s Snapshot) Add(name string, object *unstructured.Unstructured, kept func(manager string) bool) {
	s[name] = AnObject
	if object.GetDeletionTimestamp() != nil {
		s[name] = dying
	}
	WrittenBy(object, kept).Leaves().Iterate(func(path fieldpath.Path) {
		for _, leaf := range leaves(name+" "+path.String(), "", at(object.Object, path), nil) {
			switch {
			case leaf.Value == nil:
			case strings.HasSuffix(leaf.Path, ".observedGeneration") && leaf.Value == object.GetGeneration():
				s[leaf.Path] = "the generation"
			default:
				s[leaf.Path] = cmp.Or(fmt.Sprint(leaf.Value), `""`) // "" means that there is no entry.
			}
		}
	})
}

// Unmanaged stands for the managers of an object without metadata.managedFields, which the API server in memory
// does not keep.
const Unmanaged = ""

// WrittenBy returns the fields that these managers have written.
func WrittenBy(object *unstructured.Unstructured, kept func(manager string) bool) *fieldpath.Set {
	written := fieldpath.NewSet()
	if len(object.GetManagedFields()) == 0 && kept(Unmanaged) {
		sent := object.DeepCopy().Object
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "name", "namespace"} {
			unstructured.RemoveNestedField(sent, "metadata", field)
		}
		delete(sent, "kind")
		delete(sent, "apiVersion")
		return fieldpath.SetFromValue(value.NewValueInterface(sent))
	}
	for _, entry := range object.GetManagedFields() {
		var fields fieldpath.Set
		if kept(entry.Manager) && fields.FromJSON(entry.FieldsV1.GetRawReader()) == nil {
			written = written.Union(&fields)
		}
	}
	return written
}

// at returns the value at a path, or nil.
func at(value any, path fieldpath.Path) any {
	if len(path) == 0 {
		return value
	}
	switch in := value.(type) {
	case map[string]any:
		return at(in[ptr.Deref(path[0].FieldName, "")], path[1:])
	case []any:
		for i, item := range in {
			if leadsTo(path[0], i, item) {
				return at(item, path[1:])
			}
		}
	}
	return nil
}

// leadsTo reports whether a path element selects a list item, by its index, its value or its keys.
func leadsTo(step fieldpath.PathElement, i int, item any) bool {
	if step.Index != nil {
		return *step.Index == i
	}
	if step.Value != nil {
		return value.Equals(*step.Value, value.NewValueInterface(item))
	}
	fields, _ := item.(map[string]any)
	return !slices.ContainsFunc(ptr.Deref(step.Key, nil), func(key value.Field) bool {
		return !value.Equals(key.Value, value.NewValueInterface(fields[key.Name]))
	})
}

var aTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// Timeless replaces times, which differ between runs.
func Timeless(text string) string { return aTime.ReplaceAllString(text, "TIME") }

// aUID matches UIDs of objects outside the snapshot, which differ between runs, too. Entry names for owner
// references contain them.
var aUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Renamed replaces words in the snapshot, such as UIDs and namespaces, which differ between runs.
func (s Snapshot) Renamed(words *strings.Replacer) Snapshot {
	renamed := Snapshot{}
	rename := func(text string) string { return aUID.ReplaceAllString(words.Replace(text), "UID") }
	for name, value := range s {
		renamed[rename(name)] = Timeless(rename(value))
	}
	return renamed
}

// Difference is one changed entry. Is or Was is "" if the entry is missing.
type Difference struct{ Name, Is, Was string }

// Against returns the differences from a snapshot without a fault, except where skip returns true. If only
// one snapshot has an object, its values are left out.
func (s Snapshot) Against(was Snapshot, skip func(name string) bool) (all []Difference) {
	union := maps.Clone(s)
	maps.Copy(union, was)
	for _, name := range slices.Sorted(maps.Keys(union)) {
		object, _, isValue := strings.Cut(name, " .")
		missing := s[object] == "" || was[object] == ""
		if s[name] != was[name] && !(isValue && missing) && !skip(name) {
			all = append(all, Difference{name, s[name], was[name]})
		}
	}
	return all
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s; learned: %s", d.Name, cmp.Or(d.Is, "not there"), cmp.Or(d.Was, "not there"))
}

// IsObject reports whether a whole object differs, not one of its values.
func (d Difference) IsObject() bool { return strings.Count(d.Name, " ") == 1 }

// Leaf is a value of an object that is neither an object nor a list.
type Leaf struct {
	// Path is the location, such as .spec.containers[0].image. Pointer is the same for a JSON patch.
	Path, Pointer string
	Value         any
	// Set changes the value in the object in which it was found.
	Set func(value any)
}

// Leaves returns the values of an object that can be changed: not its metadata, its status, the names of list
// items, or kubectl's annotations of a Pod template, which a program should keep.
func Leaves(object map[string]any) []Leaf {
	return slices.DeleteFunc(leaves("", "", object, nil), func(leaf Leaf) bool {
		field, _, _ := strings.Cut(leaf.Path[1:], ".")
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field) || strings.HasSuffix(leaf.Path, "].name") || strings.Contains(leaf.Path, ".kubectl.kubernetes.io/") || leaf.Other() == nil
	})
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1")

func leaves(path, pointer string, value any, set func(any)) (all []Leaf) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			all = append(all, leaves(path+"."+name, pointer+"/"+escaped.Replace(name), value[name], func(v any) { value[name] = v })...)
		}
	case []any:
		for i, item := range value {
			all = append(all, leaves(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s/%d", pointer, i), item, func(v any) { value[i] = v })...)
		}
	default:
		all = append(all, Leaf{path, pointer, value, set})
	}
	return all
}

// Other returns a different value, or nil for a type that it does not support.
func (l Leaf) Other() any {
	switch value := l.Value.(type) {
	case string:
		return value + "x"
	case int64:
		return value + 1
	case bool:
		return !value
	}
	return nil
}

// Made reports whether these managers have written the object itself, not only a subresource such as its
// status.
func Made(object *unstructured.Unstructured, kept func(manager string) bool) bool {
	return len(object.GetManagedFields()) == 0 && kept(Unmanaged) || slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "" && kept(entry.Manager)
	})
}
