package proxy

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/byhand/internal/observe/wire"
)

// names reports whether the name of another object is a value in this one, also in a text such as
// "namespace/name" or "one,two". If they are in two namespaces, the other namespace must be named, too.
func (o *object) names(other *object) bool {
	if other.Name == "" || !bytes.Contains(o.fields, []byte(other.Name)) {
		return false // Most are. It is much faster.
	}
	content := wire.Decode(o.fields)
	return mentions(content, other.Name) && (other.Namespace == "" || other.Namespace == o.Namespace || mentions(content, other.Namespace))
}

// ownFields are not searched for names: labels are for selectors, and owners are family.
var ownFields = sets.New("labels", "matchLabels", "selector", "ownerReferences", "managedFields")

// mentions reports whether a word is a value in a part of an object, or a part of a value.
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
		isEdge := func(r rune) bool { return strings.ContainsRune(`", /:`, r) }
		return slices.Contains(strings.FieldsFunc(v, isEdge), word)
	}
	return false
}

// selector is a field of an object that selects others by their labels: of any kind if its name is
// selector, of Pods if it is podSelector.
type selector struct {
	kind string // the end of its name, in lower case
	labels.Selector
}

// selectors returns those in an object.
func selectors(v any) (all []selector) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			all = append(all, selectors(inner)...)
		}
	case map[string]any:
		for name, inner := range v {
			kind, isSelector := strings.CutSuffix(strings.ToLower(name), "selector")
			content, isMap := inner.(map[string]any)
			if !isSelector || !isMap {
				all = append(all, selectors(inner)...)
				continue
			}
			if kind == "label" {
				kind = ""
			}
			var read metav1.LabelSelector
			_, hasLabels := content["matchLabels"]
			_, hasExpressions := content["matchExpressions"]
			if !hasLabels && !hasExpressions { // of a Service
				content = map[string]any{"matchLabels": content}
			}
			if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &read) != nil {
				continue
			}
			if s, err := metav1.LabelSelectorAsSelector(&read); err == nil {
				all = append(all, selector{kind, s})
			}
		}
	}
	return all
}

// selects reports whether this object selects another one of its namespace.
func (o *object) selects(other *object) bool {
	for _, s := range o.selectors {
		if o.Namespace == other.Namespace && strings.HasSuffix(strings.ToLower(other.Kind), s.kind) && s.Matches(labels.Set(other.Labels)) {
			return true
		}
	}
	return false
}
