package proxy

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/byhand/internal/observe/wire"
)

// names reports whether this object has the other's name as a value, or as a part of one such as
// "namespace/name", "one,two" or "/data/name_namespace". Across namespaces it must have the other's namespace, too.
func (o *object) names(other *object) bool {
	if other.Name == "" || !bytes.Contains(o.fields, []byte(other.Name)) {
		return false // Most calls end here, which is much faster.
	}
	content := wire.Decode(o.fields)
	unstructured.RemoveNestedField(content, "metadata", "namespace") // It names no object.
	if o.resource != other.resource {
		// The same name is a reference only in a copy, which has the same resource.
		unstructured.RemoveNestedField(content, "metadata", "name")
	}
	return mentions(content, other.Name) && (other.Namespace == "" || other.Namespace == o.Namespace || mentions(content, other.Namespace))
}

// ownFields are not searched for names: labels are for selectors, and owners are in family.
var ownFields = sets.New("labels", "matchLabels", "selector", "ownerReferences", "managedFields")

// mentions reports whether a word is a value in v, or a part of one.
func mentions(v any, word string) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if !ownFields.Has(name) && mentions(inner, word) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return mentions(inner, word) })
	case string:
		isEdge := func(r rune) bool { return strings.ContainsRune(`", /:_`, r) }
		return slices.Contains(strings.FieldsFunc(v, isEdge), word)
	}
	return false
}

// selector is a field that selects objects by their labels: Pods if its name is selector, Rules if it
// is ruleSelector. matchExpressions are ignored.
type selector struct {
	kind   string // the end of its name, in lower case
	labels labels.Set
}

// selectors returns all selectors in a part of an object.
func selectors(v any) (all []selector) {
	content, _ := v.(map[string]any)
	for name, inner := range content {
		kind, isSelector := strings.CutSuffix(strings.ToLower(name), "selector")
		if !isSelector {
			all = append(all, selectors(inner)...)
			continue
		}
		wanted, found, err := unstructured.NestedStringMap(content, name, "matchLabels")
		if !found { // A Service has no matchLabels.
			wanted, _, err = unstructured.NestedStringMap(content, name)
		}
		if kind == "" || kind == "label" {
			kind = "pod"
		}
		if err == nil {
			all = append(all, selector{kind, wanted})
		}
	}
	return all
}

// selects reports whether this object selects the other one, in the same namespace.
func (o *object) selects(other *object) bool {
	return o.Namespace == other.Namespace && slices.ContainsFunc(o.selectors, func(s selector) bool {
		return strings.HasSuffix(strings.ToLower(other.Kind), s.kind) && s.labels.AsSelector().Matches(labels.Set(other.Labels))
	})
}
