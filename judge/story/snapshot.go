package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Snapshot is what is stored, one entry for each object ("deployments a") and for each of its values
// ("deployments a .spec.replicas").
type Snapshot map[string]string

// AnObject is the value of an object's own entry.
const AnObject, dying = "an object", "an object that is being deleted"

// Add adds an object by a name. Only the values that a manager has written for which kept returns true
// are added, as metadata.managedFields says.
func (s Snapshot) Add(name string, object *unstructured.Unstructured, kept func(manager string) bool) {
	s[name] = AnObject
	if object.GetDeletionTimestamp() != nil {
		s[name] = dying
	}
	s.add(name+" ", object.Object, WrittenBy(object, kept), object.GetGeneration())
}

// WrittenBy is what these managers have written of an object, in the form of fieldsV1.
func WrittenBy(object *unstructured.Unstructured, kept func(manager string) bool) map[string]any {
	written := map[string]any{}
	for _, entry := range object.GetManagedFields() {
		var fields map[string]any
		if kept(entry.Manager) && entry.FieldsV1 != nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil {
			merge(written, fields)
		}
	}
	return written
}

// merge adds fields to others. An empty one stands for all that is below it.
func merge(into, fields map[string]any) {
	for name, below := range fields {
		below, _ := below.(map[string]any)
		before, there := into[name].(map[string]any)
		switch {
		case !there:
			into[name] = below
		case len(before) == 0 || len(below) == 0:
			into[name] = map[string]any{}
		default:
			merge(before, below)
		}
	}
}

// add adds what is at a path, as far as it was written; nil: all of it.
func (s Snapshot) add(at string, value any, written map[string]any, generation int64) {
	below := func(name string) (fields map[string]any, there bool) {
		if written == nil {
			return nil, true
		}
		if fields, there = written[name].(map[string]any); len(fields) == 0 {
			fields = nil
		}
		return fields, there
	}
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if fields, there := below("f:" + name); there {
				s.add(at+"."+name, v, fields, generation)
			}
		}
	case []any:
		for i, v := range value {
			if written == nil {
				s.add(fmt.Sprintf("%s[%d]", at, i), v, nil, generation)
				continue
			}
			for item := range written {
				if label, is := identifies(item, v); is {
					fields, _ := below(item)
					s.add(at+"["+label+"]", v, fields, generation)
				}
			}
		}
	default:
		s[at] = fmt.Sprint(value)
		if strings.HasSuffix(at, ".observedGeneration") && value == generation {
			s[at] = "the generation"
		}
	}
}

// identifies reports whether an entry of fieldsV1 is about an item of a list: k:{"name":"a"} has its keys,
// v:"a" is its value. label is short for it.
func identifies(entry string, item any) (label string, is bool) {
	kind, text, _ := strings.Cut(entry, ":")
	var wanted any
	if json.Unmarshal([]byte(text), &wanted) != nil {
		return "", false
	}
	if kind == "v" {
		return fmt.Sprint(wanted), fmt.Sprint(item) == fmt.Sprint(wanted)
	}
	keys, _ := wanted.(map[string]any)
	object, _ := item.(map[string]any)
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if fmt.Sprint(object[key]) != fmt.Sprint(keys[key]) {
			return "", false
		}
		labels = append(labels, fmt.Sprintf("%s=%v", key, keys[key]))
	}
	return strings.Join(labels, ","), len(labels) > 0
}

var aTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// Timeless replaces each time in a text, which is another one each time.
func Timeless(text string) string { return aTime.ReplaceAllString(text, "TIME") }

// aUID is one of an object that is not in the snapshot. It is another one each time, too, and names of owner references have it.
var aUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Renamed is the snapshot with other words: UIDs and namespaces are others each time.
func (s Snapshot) Renamed(words *strings.Replacer) Snapshot {
	renamed := Snapshot{}
	rename := func(text string) string { return aUID.ReplaceAllString(words.Replace(text), "UID") }
	for name, value := range s {
		renamed[rename(name)] = Timeless(rename(value))
	}
	return renamed
}

// Difference is one entry that is not as it was. Is and Was are "" if there is none.
type Difference struct{ Name, Is, Was string }

// Against returns what differs from a snapshot without a fault, except where skip returns true. Of an
// object that one of them does not have, the values are left out.
func (s Snapshot) Against(was Snapshot, skip func(name string) bool) (all []Difference) {
	union := maps.Clone(s)
	maps.Copy(union, was)
	missing := ""
	for _, name := range slices.Sorted(maps.Keys(union)) {
		if s[name] == was[name] || missing != "" && strings.HasPrefix(name, missing+" ") || skip(name) {
			continue
		}
		if union[name] == AnObject || union[name] == dying {
			missing = ""
			if s[name] == "" || was[name] == "" {
				missing = name
			}
		}
		all = append(all, Difference{name, s[name], was[name]})
	}
	return all
}

func (d Difference) String() string {
	switch {
	case d.Was == "":
		return fmt.Sprintf("%s: %s, and without a fault there is none", d.Name, d.Is)
	case d.Is == "":
		return fmt.Sprintf("%s: is not there; without a fault: %s", d.Name, d.Was)
	default:
		return fmt.Sprintf("%s: %s; without a fault: %s", d.Name, d.Is, d.Was)
	}
}

// IsObject reports whether it is about an object, and not about a value of it.
func (d Difference) IsObject() bool { return strings.Count(d.Name, " ") == 1 }

// Leaf is where a value is: the names of fields, and the numbers of items.
type Leaf []any

// Leaves returns the values that an object has besides its metadata and its status, except the names of the items
// of lists.
func Leaves(object map[string]any) (all []Leaf) {
	for _, field := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field) {
			all = append(all, leaves(Leaf{field}, object[field])...)
		}
	}
	return all
}

func leaves(at Leaf, value any) (all []Leaf) {
	below := func(step any) Leaf { return append(slices.Clone(at), step) }
	switch value := value.(type) {
	case map[string]any:
		_, item := at[len(at)-1].(int)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !item || name != "name" {
				all = append(all, leaves(below(name), value[name])...)
			}
		}
	case []any:
		for i, v := range value {
			all = append(all, leaves(below(i), v)...)
		}
	case string, int64, bool:
		all = append(all, at)
	}
	return all
}

// String is its path, such as .spec.containers[0].image.
func (l Leaf) String() (path string) {
	for _, step := range l {
		if name, is := step.(string); is {
			path += "." + name
		} else {
			path += fmt.Sprintf("[%v]", step)
		}
	}
	return path
}

// Change gives the value another one, and returns both. It reports whether there is a value.
func (l Leaf) Change(object map[string]any) (before, after any, is bool) {
	return l.set(object, func(before any) any {
		switch before := before.(type) {
		case string:
			return before + "x"
		case int64:
			return before + 1
		case bool:
			return !before
		}
		return nil
	})
}

// Set gives the value this one.
func (l Leaf) Set(object map[string]any, value any) { l.set(object, func(any) any { return value }) }

// Value is the value, or nil.
func (l Leaf) Value(object map[string]any) (value any) {
	l.set(object, func(before any) any { value = before; return nil })
	return value
}

func (l Leaf) set(object map[string]any, change func(before any) any) (before, after any, is bool) {
	var at any = object
	for i, step := range l {
		last := i == len(l)-1
		switch step := step.(type) {
		case string:
			fields, _ := at.(map[string]any)
			if at = fields[step]; last && at != nil {
				if after = change(at); after != nil {
					fields[step] = after
				}
			}
		case int:
			items, _ := at.([]any)
			if step >= len(items) {
				return nil, nil, false
			}
			if at = items[step]; last {
				if after = change(at); after != nil {
					items[step] = after
				}
			}
		}
	}
	return at, after, after != nil
}

// Made reports whether these managers have written the object itself, and not its status alone.
func Made(object *unstructured.Unstructured, kept func(manager string) bool) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "" && kept(entry.Manager)
	})
}
