package main

import (
	_ "embed"
	"fmt"
	"math/rand"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

//go:embed config/crd/ats.cnat.programming-kubernetes.info.yaml
var crdFile []byte

// crd is the part of a CustomResourceDefinition that is compared with Go.
type crd struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group    string
		Names    struct{ Kind, ListKind, Plural string }
		Versions []struct {
			Name   string
			Schema struct{ OpenAPIV3Schema node }
		}
	}
}

// node is a schema.
type node struct {
	Description, Type, Format, Pattern string
	Required                           []string
	Properties                         map[string]node
	Items                              *node
}

func readCRD(t *testing.T) crd {
	t.Helper()
	var read crd
	if err := yaml.Unmarshal(crdFile, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// TestSchema compares the schema with the Go types, field by field: a client drops what its
// type lacks, an API server what the schema lacks.
func TestSchema(t *testing.T) {
	for _, problem := range schemaProblems("At", reflect.TypeFor[At](), readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema) {
		t.Error(problem)
	}
}

func schemaProblems(path string, typ reflect.Type, got node) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if want := wireType(typ); want != got.Type+" "+got.Format {
		report("%s is %q in Go and %q in the schema", path, want, got.Type+" "+got.Format)
	}
	switch {
	case typ.Kind() == reflect.Slice && got.Items != nil:
		problems = append(problems, schemaProblems(path+"[]", typ.Elem(), *got.Items)...)
	case typ.Kind() == reflect.Struct && typ.PkgPath() == reflect.TypeFor[At]().PkgPath():
		required := []string{}
		fields := wireFields(typ)
		for name, field := range fields {
			property, ok := got.Properties[name]
			if !ok {
				report("%s.%s is in Go and not in the schema", path, name)
				continue
			}
			if !strings.Contains(field.Tag.Get("json"), ",omitempty") && name != "status" {
				required = append(required, name)
			}
			if path != "At" && property.Description == "" {
				report("%s.%s has no description", path, name)
			}
			problems = append(problems, schemaProblems(path+"."+name, field.Type, property)...)
		}
		for name := range got.Properties {
			if _, ok := fields[name]; !ok && path+"."+name != "At.spec.command" {
				report("%s.%s is in the schema and not in Go", path, name)
			}
		}
		slices.Sort(required)
		if slices.Sort(got.Required); !slices.Equal(required, got.Required) {
			report("%s: the schema requires %v, and Go always sends %v", path, got.Required, required)
		}
	}
	slices.Sort(problems)
	return problems
}

// wireFields returns the fields of a struct by their names on the wire.
func wireFields(typ reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			fields["apiVersion"], fields["kind"] = field.Type.Field(1), field.Type.Field(0)
			continue
		}
		fields[name] = field
	}
	return fields
}

// wireType is the schema's type and format of a Go type.
func wireType(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[metav1.Time]():
		return "string date-time"
	case typ.Kind() == reflect.String:
		return "string "
	case typ.Kind() == reflect.Int64:
		return "integer int64"
	case typ.Kind() == reflect.Slice:
		return "array "
	default:
		return "object "
	}
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
		// The format date-time admits these.
		"2026-01-02t00:30:00z":       false,
		"2026-01-02T00:30:00x5Z":     false,
		"2026-01-02T00:30:00+99:99":  false,
		"2026-01-02T15:04:05":        false,
		"2026-01-02 15:04:05Z":       false,
		"2026-01-02T15:04:05Z\n":     false,
		"2026-01-02T24:00:00Z":       false,
		"2026-01-02T15:04:60Z":       false,
		"tomorrow":                   false,
		"":                           false,
		"+2026-01-02T15:04:05Z":      false,
		"2026-01-02T15:04:05 +01:00": false,
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
