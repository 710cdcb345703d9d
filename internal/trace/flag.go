package trace

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

// Flag is the value of --trace. Its zero value is off.
type Flag struct {
	on, json bool
	foo      string
}

// On reports whether anything is to be printed.
func (f Flag) On() bool { return f.on }

// IsBoolFlag lets --trace stand alone.
func (f *Flag) IsBoolFlag() bool { return true }

// String returns what Set understands.
func (f *Flag) String() string {
	switch {
	case f == nil || !f.on:
		return "false"
	case f.json:
		return "json"
	case f.foo != "":
		return f.foo
	default:
		return "true"
	}
}

// Set understands true, false, json and the key of a Foo.
func (f *Flag) Set(value string) error {
	namespace, name, isKey := strings.Cut(value, "/")
	switch {
	case value == "true":
		*f = Flag{on: true}
	case value == "false":
		*f = Flag{}
	case value == "json":
		*f = Flag{on: true, json: true}
	case isKey && len(validation.ValidateNamespaceName(namespace, false)) == 0 && len(validation.NameIsDNSSubdomain(name, false)) == 0:
		*f = Flag{on: true, foo: value}
	default:
		return fmt.Errorf("neither json nor the namespace/name of a Foo, such as --trace=default/example-foo")
	}
	return nil
}

// wanted reports whether a step is to be printed. What the whole process does is
// part of every Foo's trace.
func (f Flag) wanted(step *Step) bool {
	return f.foo == "" || step.Foo == f.foo || step.Part == PartProgram
}
