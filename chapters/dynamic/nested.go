package main

import (
	"fmt"
	"slices"
	"strings"
)

// An Unstructured is an object without a Go type: a map from field names to what JSON has,
// and to nothing else.
//
//	JSON      Go
//	null      nil
//	true      bool
//	"a"       string
//	1         int64    no dot, no exponent, and it fits; 1 and 1.0 differ
//	1.0, 1e3  float64
//	[]        []any
//	{}        map[string]any
//
// An int or a []string looks the same when it is printed, and when it is sent. But
// DeepCopyJSON panics when it meets one, wherever the object is copied next.
//
// The functions here are those of the same names in package unstructured of apimachinery.
// They have three results: the value, whether it is there, and an error if it has another
// type. A caller that ignores the error reads 0 where the object has "3".

// NestedString returns the string at a path of field names.
func NestedString(object map[string]any, path ...string) (value string, found bool, err error) {
	return nestedAs[string](object, path)
}

// NestedInt64 returns the int64 at a path. 1.0 is an error: it is a float64.
func NestedInt64(object map[string]any, path ...string) (value int64, found bool, err error) {
	return nestedAs[int64](object, path)
}

// NestedFloat64 returns the float64 at a path. 1 is an error: it is an int64. So a field
// that is a number in the schema has to be read both ways.
func NestedFloat64(object map[string]any, path ...string) (value float64, found bool, err error) {
	return nestedAs[float64](object, path)
}

// NestedBool returns the bool at a path.
func NestedBool(object map[string]any, path ...string) (value, found bool, err error) {
	return nestedAs[bool](object, path)
}

// NestedStringMap returns a copy of the map at a path, such as the labels. A value that is
// no string is an error.
func NestedStringMap(object map[string]any, path ...string) (map[string]string, bool, error) {
	fields, found, err := nestedAs[map[string]any](object, path)
	if !found || err != nil {
		return nil, false, err
	}
	copied := make(map[string]string, len(fields))
	for key := range fields {
		if copied[key], _, err = nestedAs[string](fields, []string{key}); err != nil {
			return nil, false, fmt.Errorf("in %s: %w", pathString(path), err)
		}
	}
	return copied, true, nil
}

// SetNestedField sets the value at a path, and makes the objects on the way that are
// missing. The value becomes a part of the object: it is not copied.
func SetNestedField(object map[string]any, value any, path ...string) error {
	for i, field := range path[:len(path)-1] {
		next, found := object[field]
		if !found {
			next = map[string]any{}
			object[field] = next
		}
		fields, ok := next.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %s: it cannot have fields", pathString(path[:i+1]), typeOf(next))
		}
		object = fields
	}
	object[path[len(path)-1]] = value
	return nil
}

// nestedAs returns the value at a path if it is a T. null is of no type.
func nestedAs[T any](object map[string]any, path []string) (typed T, found bool, err error) {
	value, found, err := nested(object, path)
	if !found || err != nil {
		return typed, false, err
	}
	typed, ok := value.(T)
	if !ok {
		return typed, false, fmt.Errorf("%s is %s, not %s", pathString(path), typeOf(value), typeOf(typed))
	}
	return typed, true, nil
}

// nested returns the value at a path. It is not found if a field on the way is missing or
// null. It is an error if a field on the way is anything else that has no fields. Lists
// have none: no path leads into a list.
func nested(object map[string]any, path []string) (value any, found bool, err error) {
	value = object
	for i, field := range path {
		if value == nil {
			return nil, false, nil
		}
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, false, fmt.Errorf("%s is %s: it has no field %s", pathString(path[:i]), typeOf(value), field)
		}
		if value, found = fields[field]; !found {
			return nil, false, nil
		}
	}
	return value, true, nil
}

func pathString(path []string) string {
	return strings.Join(slices.Concat([]string{""}, path), ".")
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", value)
}
