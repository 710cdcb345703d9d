package look

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const (
	mostChanges = 4  // that are named of one write
	mostValue   = 40 // bytes of a value that are shown
)

// silent are the fields that change with each write, whatever it is.
var silent = map[string]bool{"metadata.resourceVersion": true, "metadata.generation": true, "metadata.uid": true, "metadata.creationTimestamp": true}

// changes says what differs between two states of an object, "" for nothing.
func changes(before, now *object) string {
	if before == nil || before.fields == nil || now.fields == nil {
		return ""
	}
	var all []string
	compare(&all, "", decode(before.fields), decode(now.fields))
	if len(all) > mostChanges {
		all = append(all[:mostChanges], fmt.Sprintf("%d more", len(all)-mostChanges))
	}
	return strings.Join(all, ", ")
}

// compare adds the fields that differ, by their path.
func compare(all *[]string, path string, before, now any) {
	if reflect.DeepEqual(before, now) || silent[path] {
		return
	}
	was, wasMap := before.(map[string]any)
	is, isMap := now.(map[string]any)
	if isMap && (wasMap || before == nil) && len(is) > 0 {
		names := maps.Clone(is)
		maps.Copy(names, was)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			compare(all, strings.TrimPrefix(path+"."+name, "."), was[name], is[name])
		}
		return
	}
	wasList, _ := before.([]any)
	isList, isSlice := now.([]any)
	if isSlice && len(wasList) == len(isList) {
		for i := range isList {
			compare(all, fmt.Sprintf("%s[%d]", path, i), wasList[i], isList[i])
		}
		return
	}
	*all = append(*all, fmt.Sprintf("%s %s → %s", path, value(before), value(now)))
}

// value shows a value in a few words.
func value(v any) string {
	if v == nil {
		return "none"
	}
	text, _ := json.Marshal(v)
	if len(text) > mostValue {
		return strings.ToValidUTF8(string(text[:mostValue]), "") + "…"
	}
	return string(text)
}
