package proxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/byhand/internal/observe/wire"
)

const (
	mostChanges = 4  // shown of one write
	mostValue   = 40 // bytes shown of a value
	otherOrder  = "the same values in another order: "
)

// silent are the fields that any write may change, and the type of an object, which list items lack.
var silent = []string{"metadata.resourceVersion", "metadata.generation", "metadata.uid", "metadata.creationTimestamp", "metadata.managedFields[0].manager", "metadata.managedFields[0].time", "apiVersion", "kind"}

// change is a field that differs between two versions of an object. Its values are JSON, "" if absent.
type change struct{ path, was, is string }

func changes(before, now *object) (all []change) {
	if before == nil || !before.whole || !now.whole {
		return nil
	}
	was, is := map[string]string{}, map[string]string{}
	flatten(was, "", wire.Decode(before.fields))
	flatten(is, "", wire.Decode(now.fields))
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if was[path] != is[path] && !slices.Contains(silent, path) {
			all = append(all, change{path, was[path], is[path]})
		}
	}
	return all
}

// describe describes changes in words, "" if nothing changed.
func describe(all []change) string {
	var texts, gone, come []string
	for _, c := range all {
		texts = append(texts, fmt.Sprintf("%s %s → %s", c.path, value(c.was), value(c.is)))
		gone, come = append(gone, c.was), append(come, c.is)
	}
	slices.Sort(gone)
	slices.Sort(come)
	if len(all) > 1 && slices.Equal(gone, come) {
		texts[0] = otherOrder + texts[0]
	}
	if len(texts) > mostChanges {
		texts = append(texts[:mostChanges], fmt.Sprintf("%d more", len(texts)-mostChanges))
	}
	return strings.Join(texts, ", ")
}

var index = regexp.MustCompile(`\[\d+\]`)

// fieldsOf names the changed fields, without the indexes in lists.
func fieldsOf(all []change) string {
	var fields []string
	for _, c := range all {
		fields = append(fields, index.ReplaceAllString(c.path, "[]"))
	}
	slices.Sort(fields)
	return strings.Join(slices.Compact(fields), " ")
}

// areTimes reports whether only time stamps changed.
func areTimes(all []change) bool {
	isTime := func(text string) bool {
		_, err := time.Parse(`"`+time.RFC3339+`"`, text)
		return err == nil
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(c change) bool { return !isTime(c.was) || !isTime(c.is) })
}

// flatten adds each value of an object as JSON, by its path. It skips nulls and empty maps and lists.
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

// value shortens a value for the log.
func value(text string) string {
	switch {
	case text == "":
		return "none"
	case len(text) > mostValue:
		return strings.ToValidUTF8(text[:mostValue], "") + "…"
	}
	return text
}
