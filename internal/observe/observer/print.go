package observer

import (
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"golang.org/x/term"

	"example.com/byhand/internal/observe/trace"
)

// Flag is the value of --trace. Its zero value is the log.
type Flag struct {
	on, json bool
	key      string
}

// JSON is the form of a recording.
var JSON = Flag{on: true, json: true}

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
		*f = JSON
	case isKey && len(validation.ValidateNamespaceName(namespace, false)) == 0 && len(validation.NameIsDNSSubdomain(name, false)) == 0:
		*f = Flag{on: true, key: value}
	default:
		return fmt.Errorf("neither json nor the namespace/name of an object, such as --trace=default/example-foo")
	}
	return nil
}

// wanted reports whether a step is printed. Steps of the whole process are part of every
// trace.
func (f Flag) wanted(step *trace.Step) bool {
	return f.key == "" || strings.HasSuffix(step.For, " "+f.key) || step.Part == trace.PartProgram
}

// Print writes the steps that are published from now on to out, in the form that the flag
// says. A line that cannot be written is lost.
func (o *Observer) Print(f Flag, out io.Writer) {
	line := logLine
	switch {
	case f.json:
		line = (*trace.Step).Line
	case f.on:
		line = newTimeline(out).line
	}
	o.publishing.Lock()
	defer o.publishing.Unlock()
	o.printers = append(o.printers, func(step *trace.Step) {
		// A step that is not part of the log has no line.
		if text := line(step); text != "" && f.wanted(step) {
			_, _ = io.WriteString(out, text)
		}
	})
}

// HarmlessWriter passes text on to out, each line as Harmless returns it.
func HarmlessWriter(out io.Writer) io.Writer { return harmlessWriter{out} }

type harmlessWriter struct{ out io.Writer }

func (w harmlessWriter) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = Harmless(line)
	}
	_, err := io.WriteString(w.out, strings.Join(lines, "\n"))
	return len(text), err
}

// newTimeline returns a timeline in the form that suits out: as wide as the
// terminal, or as wide as it gets.
func newTimeline(out io.Writer) *timeline {
	t := &timeline{}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.width, _, _ = term.GetSize(int(file.Fd()))
	}
	return t
}
