package main

import (
	_ "embed"
	"reflect"
	"regexp"
	"testing"
	"time"

	"example.com/byhand/kit/crd"
)

//go:embed config/crd/ats.cnat.programming-kubernetes.info.yaml
var crdFile []byte

func readCRD(t *testing.T) crd.Definition { return crd.Read(t, crdFile) }

// TestSchema compares the schema with the Go types, field by field. So does TestKind, but not before
// there are copies and a registration, which the walk of README.md writes later.
func TestSchema(t *testing.T) {
	crd.Compare(t, "At", reflect.TypeFor[At](), readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema)
}

// TestPatterns: what the pattern of the times admits Go decodes, except a day that the month does not
// have. That of the Pod's name admits the names that this program writes, and no path.
func TestPatterns(t *testing.T) {
	root := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	times, status := root.Properties["spec"].Properties["schedule"].Pattern, root.Properties["status"].Properties
	for _, name := range []string{"startTime", "completionTime"} {
		if status[name].Pattern != times {
			t.Errorf("%s has another pattern than the schedule", name)
		}
	}
	for value, want := range map[string]bool{
		"2026-01-02T15:04:05+01:00": true,
		"0000-01-01T00:00:00.5Z":    true,
		"9999-12-31T23:59:59-23:59": true,
		"2026-01-02T15:04:05":       false,
		"2026-01-02T15:04:05Z\n":    false,
		"+2026-01-02T15:04:05Z":     false,
		"2026-00-02T15:04:05Z":      false,
		"2026-13-02T15:04:05Z":      false,
		"2026-01-00T15:04:05Z":      false,
		"2026-01-32T15:04:05Z":      false,
		"2026-01-02T24:04:05Z":      false,
		"2026-01-02T15:60:05Z":      false,
		"2026-01-02T15:04:60Z":      false,
		"2026-01-02T15:04:05.Z":     false,
		"2026-01-02T15:04:05+24:00": false,
		"2026-01-02T15:04:05+01:60": false,
		// The format date-time admits these.
		"2026-01-02t00:30:00Z":      false,
		"2026-01-02T00:30:00z":      false,
		"2026-01-02T00:30:00x5Z":    false,
		"2026-01-02T00:30:00+99:99": false,
	} {
		if got := regexp.MustCompile(times).MatchString(value); got != want {
			t.Errorf("the pattern admits %q: %t, want %t", value, got, want)
		}
		if _, err := time.Parse(time.RFC3339, value); want && err != nil {
			t.Errorf("the pattern admits %q, and Go says: %v", value, err)
		}
	}
	for name, want := range map[string]bool{"example-57d4": true, "a.b": true, "..": false, "a/b": false, "": false, "a\n": false} {
		if got := regexp.MustCompile(status["podName"].Pattern).MatchString(name); got != want {
			t.Errorf("the pattern admits %q: %t, want %t", name, got, want)
		}
	}
}
