package crd

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Prune removes the fields of an object that the schema does not have.
func (s Schema) Prune(object map[string]any) {
	for name, value := range object {
		switch property, known := s.Properties[name]; {
		case known:
			property.pruneIn(value)
		case s.AdditionalProperties != nil:
			s.AdditionalProperties.pruneIn(value)
		default:
			delete(object, name)
		}
	}
}

// pruneIn prunes the objects in a value.
func (s Schema) pruneIn(value any) {
	switch value := value.(type) {
	case map[string]any:
		if !s.isAny() {
			s.Prune(value)
		}
	case []any:
		for _, item := range value {
			if s.Items != nil {
				s.Items.pruneIn(item)
			}
		}
	}
}

// isAny reports whether any object is one of the schema, such as the metadata.
func (s Schema) isAny() bool { return s.Properties == nil && s.AdditionalProperties == nil }

// Validate returns what an API server refuses of a value at a path, in its words. What was so
// before is admitted.
func (s Schema) Validate(at *field.Path, before, value any) (wrong field.ErrorList) {
	invalid := func(format string, args ...any) {
		wrong = append(wrong, field.Invalid(at, value, at.String()+" in body "+fmt.Sprintf(format, args...)))
	}
	switch value := value.(type) {
	case map[string]any:
		if s.Type == "object" {
			was, _ := before.(map[string]any)
			return s.validateObject(at, was, value)
		}
	case []any:
		if s.Type != "array" {
			break
		}
		for i, item := range value {
			if s.Items != nil {
				wrong = append(wrong, s.Items.Validate(at.Index(i), nil, item)...)
			}
		}
		return wrong
	case string:
		if s.Type != "string" {
			break
		}
		switch length := len([]rune(value)); {
		case length < s.MinLength:
			invalid("should be at least %d chars long", s.MinLength)
		case s.MaxLength > 0 && length > s.MaxLength:
			wrong = append(wrong, field.TooLong(at, value, s.MaxLength))
		case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(value):
			invalid("should match '%s'", s.Pattern)
		case s.Format == "date-time" && !dateTime.MatchString(value):
			wrong = append(wrong, field.TypeInvalid(at, value, fmt.Sprintf("%s in body must be of type date-time: %q", at, value)))
		case s.Enum != nil && !slices.Contains(s.Enum, value):
			wrong = append(wrong, field.NotSupported(at, value, s.Enum))
		}
		return wrong
	case int64:
		if s.Type != "integer" {
			break
		}
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		if s.Format == "int32" {
			least, most = math.MinInt32, math.MaxInt32
		}
		if s.Minimum != nil {
			least = *s.Minimum
		}
		if s.Maximum != nil {
			most = *s.Maximum
		}
		if value > most {
			invalid("should be less than or equal to %d", most)
		} else if value < least {
			invalid("should be greater than or equal to %d", least)
		}
		return wrong
	}
	switch value.(type) {
	case int64, string:
		if s.IntOrString {
			return nil
		}
	}
	kind := strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "int64", "integer", "float64", "number", "bool", "boolean").Replace(fmt.Sprintf("%T", value))
	if kind == s.Type {
		return wrong
	}
	text, _ := json.Marshal(kind)
	return append(wrong, field.TypeInvalid(at, kind, fmt.Sprintf("%s in body must be of type %s: %s", at, s.Type, text)))
}

func (s Schema) validateObject(at *field.Path, before, object map[string]any) (wrong field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		value, found := object[name]
		switch path := at.Child(name); {
		case found && reflect.DeepEqual(value, before[name]):
		case found:
			wrong = append(wrong, s.Properties[name].Validate(path, before[name], value)...)
		case slices.Contains(s.Required, name):
			wrong = append(wrong, field.Required(path, ""))
		}
	}
	if s.AdditionalProperties == nil {
		return wrong
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := s.Properties[name]; !known {
			wrong = append(wrong, s.AdditionalProperties.Validate(at.Child(name), before[name], object[name])...)
		}
	}
	return wrong
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)
