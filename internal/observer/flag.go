package observer

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

// Flag is the value of --trace. Its zero value is the story.
type Flag struct {
	on, json bool
	key      string
}

// On reports whether every step is to be printed.
func (f Flag) On() bool { return f.on }

// Set understands true, false, json and the key of an object: use it with
// flag.BoolFunc, so that --trace may stand alone.
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
		*f = Flag{on: true, key: value}
	default:
		return fmt.Errorf("neither json nor the namespace/name of an object, such as --trace=default/example-foo")
	}
	return nil
}

// wanted reports whether a step is to be printed. What the whole process does is
// part of every trace.
func (f Flag) wanted(step *Step) bool {
	return f.key == "" || strings.HasSuffix(step.For, " "+f.key) || step.Part == PartProgram
}
