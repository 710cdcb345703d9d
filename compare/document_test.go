package compare

import (
	"encoding/json"
	"testing"
)

// document is an object as a JSON document without the fields that are null: to
// the API server, and so here, they are absent.
func document(t *testing.T, object any) any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return withoutNull(value)
}

func withoutNull(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if field == nil {
				delete(value, key)
			} else {
				value[key] = withoutNull(field)
			}
		}
	case []any:
		for i := range value {
			value[i] = withoutNull(value[i])
		}
	}
	return value
}
