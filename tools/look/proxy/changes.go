package proxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/byhand/internal/observe/wire"
)

const (
	mostChanges = 4  // that are named of one write
	mostValue   = 40 // bytes of a value that are shown
)

// silent are the fields that change with each write, whatever it is.
var silent = []string{"metadata.resourceVersion", "metadata.generation", "metadata.uid", "metadata.creationTimestamp"}

// changes says what differs between two states of an object, "" for nothing.
func changes(before, now *object) string {
	if before == nil || before.fields == nil || now.fields == nil {
		return ""
	}
	was, is := map[string]string{}, map[string]string{}
	flatten(was, "", wire.Decode(before.fields))
	flatten(is, "", wire.Decode(now.fields))
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	var all, gone, come []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if was[path] != is[path] && !slices.Contains(silent, path) {
			all = append(all, fmt.Sprintf("%s %s → %s", path, value(was[path]), value(is[path])))
			gone, come = append(gone, was[path]), append(come, is[path])
		}
	}
	slices.Sort(gone)
	slices.Sort(come)
	if len(all) > 1 && slices.Equal(gone, come) {
		all[0] = "the same values in another order: " + all[0]
	}
	if len(all) > mostChanges {
		all = append(all[:mostChanges], fmt.Sprintf("%d more", len(all)-mostChanges))
	}
	return strings.Join(all, ", ")
}

// flatten adds each value of an object by its path, as JSON. What is empty is not there.
func flatten(all map[string]string, path string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, inner := range v {
			flatten(all, strings.TrimPrefix(path+"."+name, "."), inner)
		}
	case []any:
		for i, inner := range v {
			flatten(all, fmt.Sprintf("%s[%d]", path, i), inner)
		}
	default:
		text, _ := json.Marshal(v)
		all[path] = string(text)
	}
}

// value shows a value in a few words.
func value(text string) string {
	switch {
	case text == "":
		return "none"
	case len(text) > mostValue:
		return strings.ToValidUTF8(text[:mostValue], "") + "…"
	}
	return text
}
