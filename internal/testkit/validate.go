package testkit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// prune removes the fields that a Schema does not have.
func (s Schema) prune(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			known, ok := s.Properties[name]
			if !ok && s.Properties != nil {
				delete(value, name)
			}
			known.prune(field)
		}
	case []any:
		for _, item := range value {
			if s.Items != nil {
				s.Items.prune(item)
			}
		}
	}
}

// validate returns what is refused of an object, in the words of the API server. What was so
// before is admitted.
func (r *Resource) validate(before, object *unstructured.Unstructured) error {
	if r.Schema == nil {
		return nil
	}
	was := map[string]any{}
	if before != nil {
		was = before.Object
	}
	return r.invalid(object, r.Schema.validateFields(nil, was, object.Object))
}

func (r *Resource) invalid(object *unstructured.Unstructured, wrong field.ErrorList) error {
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(r.GroupVersionKind.GroupKind(), object.GetName(), wrong)
}

func (s Schema) validateFields(at *field.Path, before, object map[string]any) (wrong field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		value, found := object[name]
		switch path := at.Child(name); {
		case found && reflect.DeepEqual(value, before[name]):
		case found:
			wrong = append(wrong, s.Properties[name].validate(path, before[name], value)...)
		case slices.Contains(s.Required, name):
			wrong = append(wrong, field.Required(path, ""))
		}
	}
	return wrong
}

func (s Schema) validate(at *field.Path, before, value any) (wrong field.ErrorList) {
	invalid := func(format string, args ...any) {
		wrong = append(wrong, field.Invalid(at, value, at.String()+" in body "+fmt.Sprintf(format, args...)))
	}
	switch value := value.(type) {
	case map[string]any:
		if s.Type == "object" {
			was, _ := before.(map[string]any)
			return s.validateFields(at, was, value)
		}
	case []any:
		if s.Type != "array" {
			break
		}
		for i, item := range value {
			wrong = append(wrong, s.Items.validate(at.Index(i), nil, item)...)
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
		if s.Maximum != 0 && value > int64(s.Maximum) {
			invalid("should be less than or equal to %d", s.Maximum)
		} else if s.Minimum != nil && value < int64(*s.Minimum) {
			invalid("should be greater than or equal to %d", *s.Minimum)
		}
		return wrong
	}
	kind := strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "int64", "integer", "float64", "number", "bool", "boolean").Replace(fmt.Sprintf("%T", value))
	text, _ := json.Marshal(kind)
	wrong = append(wrong, field.TypeInvalid(at, kind, fmt.Sprintf("%s in body must be of type %s: %s", at, s.Type, text)))
	return wrong
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)
