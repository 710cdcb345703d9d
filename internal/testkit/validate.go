package testkit

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Schema says which fields a custom resource has besides apiVersion, kind and metadata, and
// what they may be: what the CRD says, in as much as the server refuses it. Other fields are
// dropped.
type Schema map[string]Field

// Field is one field of a Schema.
type Field struct {
	// Type is "string", "integer", "object" or "array" (of objects with Fields).
	Type     string
	Required bool
	// Fields of an object, or of each object of an array. Nil: any.
	Fields Schema
	// Of a string.
	MinLength, MaxLength int
	Pattern              string
	Enum                 []string
	DateTime             bool
	// Of an integer. A Maximum of 0 is that of an int32.
	Minimum, Maximum int64
}

const dnsSubdomain = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`

var (
	fooSchema = Schema{
		"spec": {Type: "object", Required: true, Fields: Schema{
			"deploymentName": {Type: "string", Required: true, MinLength: 1, MaxLength: 253, Pattern: dnsSubdomain},
			"replicas":       {Type: "integer", Maximum: 10},
		}},
		"status": {Type: "object", Fields: Schema{
			"replicas":           {Type: "integer", Minimum: math.MinInt32},
			"availableReplicas":  {Type: "integer", Minimum: math.MinInt32},
			"observedGeneration": {Type: "integer", Minimum: math.MinInt64, Maximum: math.MaxInt64},
			"selector":           {Type: "string"},
			"conditions": {Type: "array", Fields: Schema{
				"type":               {Type: "string", Required: true, MaxLength: 316},
				"status":             {Type: "string", Required: true, Enum: []string{"True", "False", "Unknown"}},
				"observedGeneration": {Type: "integer", Maximum: math.MaxInt64},
				"lastTransitionTime": {Type: "string", Required: true, DateTime: true, Pattern: `^(19|[2-9][0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]00:00)$`},
				"reason":             {Type: "string", Required: true, MinLength: 1, MaxLength: 1024, Pattern: `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`},
				"message":            {Type: "string", Required: true, MaxLength: 32768},
			}},
		}},
	}
	projectSchema = Schema{"spec": {Type: "object", Required: true, Fields: Schema{
		"replicas": {Type: "integer", Required: true, Minimum: 1},
	}}}
)

// prune removes the fields that a Schema does not have.
func (s Schema) prune(object map[string]any) {
	for name, value := range object {
		known, ok := s[name]
		if !ok {
			delete(object, name)
		}
		if known.Fields == nil {
			continue
		}
		switch value := value.(type) {
		case map[string]any:
			known.Fields.prune(value)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					known.Fields.prune(item)
				}
			}
		}
	}
}

// validate returns what is refused of an object, in the words of the API server. What was so
// before is admitted.
func (r *Resource) validate(before, object *unstructured.Unstructured) error {
	was := map[string]any{}
	if before != nil {
		was = before.Object
	}
	return r.invalid(object, r.Schema.validate(nil, was, object.Object))
}

func (r *Resource) invalid(object *unstructured.Unstructured, wrong field.ErrorList) error {
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(r.GroupVersionKind.GroupKind(), object.GetName(), wrong)
}

func (s Schema) validate(at *field.Path, before, object map[string]any) (wrong field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		value, found := object[name]
		switch path := at.Child(name); {
		case found && reflect.DeepEqual(value, before[name]):
		case found:
			wrong = append(wrong, s[name].validate(path, before[name], value)...)
		case s[name].Required:
			wrong = append(wrong, field.Required(path, ""))
		}
	}
	return wrong
}

func (f Field) validate(at *field.Path, before, value any) (wrong field.ErrorList) {
	invalid := func(format string, args ...any) {
		wrong = append(wrong, field.Invalid(at, value, at.String()+" in body "+fmt.Sprintf(format, args...)))
	}
	switch value := value.(type) {
	case map[string]any:
		if f.Type == "object" {
			was, _ := before.(map[string]any)
			return f.Fields.validate(at, was, value)
		}
	case []any:
		if f.Type != "array" {
			break
		}
		for i, item := range value {
			wrong = append(wrong, Field{Type: "object", Fields: f.Fields}.validate(at.Index(i), nil, item)...)
		}
		return wrong
	case string:
		if f.Type != "string" {
			break
		}
		switch length := len([]rune(value)); {
		case length < f.MinLength:
			invalid("should be at least %d chars long", f.MinLength)
		case f.MaxLength > 0 && length > f.MaxLength:
			wrong = append(wrong, field.TooLong(at, value, f.MaxLength))
		case f.Pattern != "" && !regexp.MustCompile(f.Pattern).MatchString(value):
			invalid("should match '%s'", f.Pattern)
		case f.DateTime && !dateTime.MatchString(value):
			wrong = append(wrong, field.TypeInvalid(at, value, fmt.Sprintf("%s in body must be of type date-time: %q", at, value)))
		case f.Enum != nil && !slices.Contains(f.Enum, value):
			wrong = append(wrong, field.NotSupported(at, value, f.Enum))
		}
		return wrong
	case int64:
		if f.Type != "integer" {
			break
		}
		if most := f.Maximum; value > most && (most != 0 || value > math.MaxInt32) {
			invalid("should be less than or equal to %d", most)
		} else if value < f.Minimum {
			invalid("should be greater than or equal to %d", f.Minimum)
		}
		return wrong
	}
	kind := strings.NewReplacer("map[string]interface {}", "object", "[]interface {}", "array", "int64", "integer", "float64", "number", "bool", "boolean").Replace(fmt.Sprintf("%T", value))
	text, _ := json.Marshal(kind)
	wrong = append(wrong, field.TypeInvalid(at, kind, fmt.Sprintf("%s in body must be of type %s: %s", at, f.Type, text)))
	return wrong
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)
