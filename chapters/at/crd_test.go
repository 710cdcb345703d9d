package main

import (
	_ "embed"
	"math/rand"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/byhand/chapters/internal/chaptertest"
)

//go:embed config/crd/ats.cnat.programming-kubernetes.info.yaml
var crdFile []byte

func readCRD(t *testing.T) chaptertest.Definition { return chaptertest.ReadDefinition(t, crdFile) }

// TestSchema compares the schema with the Go types, field by field.
func TestSchema(t *testing.T) {
	chaptertest.CompareSchema(t, "At", reflect.TypeFor[At](), readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema)
}

// TestPattern compares the pattern of the times with what Go decodes.
func TestPattern(t *testing.T) {
	root := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	schedule := root.Properties["spec"].Properties["schedule"]
	for _, name := range []string{"startTime", "completionTime"} {
		if root.Properties["status"].Properties[name].Pattern != schedule.Pattern {
			t.Errorf("%s has another pattern than the schedule", name)
		}
	}
	pattern := regexp.MustCompile(schedule.Pattern)
	for value, want := range map[string]bool{
		"2026-01-02T15:04:05Z":      true,
		"2026-01-02T15:04:05+01:00": true,
		"2026-01-02T15:04:05.5Z":    true,
		"9999-12-31T23:59:59-23:59": true,
		"0000-01-01T00:00:00Z":      true,
		"2026-01-02T15:04:05":       false,
		"2026-01-02T15:04:05Z\n":    false,
		"+2026-01-02T15:04:05Z":     false,
		// The format date-time admits these.
		"2026-01-02t00:30:00z":      false,
		"2026-01-02T00:30:00x5Z":    false,
		"2026-01-02T00:30:00+99:99": false,
	} {
		if got := pattern.MatchString(value); got != want {
			t.Errorf("the pattern admits %q: %t, want %t", value, got, want)
		}
	}

	// Whatever it admits Go decodes, except a day that the month does not have.
	random := rand.New(rand.NewSource(1))
	admitted := 0
	for range 100_000 {
		value := []byte("2026-02-28T15:04:05.123+01:00")
		for range 1 + random.Intn(3) {
			value[random.Intn(len(value))] = "0123456789TZtz:+-. ,"[random.Intn(20)]
		}
		if !pattern.Match(value) {
			continue
		}
		admitted++
		if _, err := time.Parse(time.RFC3339, string(value)); err != nil && !strings.HasSuffix(err.Error(), "day out of range") {
			t.Errorf("the pattern admits %q, and Go says: %v", value, err)
		}
	}
	if admitted < 1000 {
		t.Errorf("only %d values were admitted: they prove nothing", admitted)
	}
}

// TestPodNamePattern: the schema admits the names that this program writes, and no path.
func TestPodNamePattern(t *testing.T) {
	podNames := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties["podName"]
	pattern := regexp.MustCompile(podNames.Pattern)
	for name, want := range map[string]bool{"example-57d4": true, "a.b": true, "../../x": false, "..": false, "a/b": false, "": false, "a\n": false} {
		if got := pattern.MatchString(name); got != want {
			t.Errorf("the pattern admits %q: %t, want %t", name, got, want)
		}
	}
}
