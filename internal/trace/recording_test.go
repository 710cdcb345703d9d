package trace

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recording is twelve steps, and the same as JSON lines.
func recording() (text string, steps []Step) {
	for i := range 12 {
		steps = append(steps, Step{Seq: int64(i + 1), Time: time.Date(2026, 1, 1, 12, 0, i, 0, time.UTC), Part: PartStream, What: Received, Took: time.Millisecond})
	}
	steps[3].Object, steps[4].Request = json.RawMessage(`{"kind":"Foo","metadata":{"name":"foo"}}`), &Request{Method: "GET", Status: 200}
	for _, step := range steps {
		text += step.Line()
	}
	return text, steps
}

// What was written is read, with and without the last line's end, and with fields
// that a later version adds.
func TestRecording(t *testing.T) {
	text, want := recording()
	for reason, text := range map[string]string{
		"as written":           text,
		"without the last end": strings.TrimSuffix(text, "\n"),
		"from Windows":         strings.ReplaceAll(text, "\n", "\r\n"),
		"with an empty line":   strings.Replace(text, "\n", "\n\n", 1),
		"with unknown fields":  strings.ReplaceAll(text, `{"seq"`, `{"later":[1],"seq"`),
	} {
		got, err := ReadRecording(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", reason, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// Each mistake names its line, and what stands before it is read.
func TestRecordingMistakes(t *testing.T) {
	text, steps := recording()
	lines := strings.SplitAfter(text, "\n")
	with := func(third string) io.Reader { return strings.NewReader(lines[0] + lines[1] + third + lines[3]) }
	for _, test := range []struct {
		reason string
		from   io.Reader
		steps  int
		want   []string
	}{
		{"cut off", strings.NewReader(text[:len(text)-20]), len(steps) - 1, []string{"line 12 of the recording: not a step in JSON: unexpected end"}},
		{"no JSON", with("E1120 something went wrong\n"), 2, []string{"line 3 ", "not a step in JSON", `'E'`}},
		{"another JSON", with(`{"kind":"Foo"}` + "\n"), 2, []string{"line 3 ", "needs seq"}},
		{"no time", with(`{"seq":3,"part":"queue","what":"added"}` + "\n"), 2, []string{"line 3 ", "time"}},
		{"an unknown part", with(strings.Replace(lines[2], `"part":"stream"`, `"part":"kitchen"`, 1)), 2, []string{"line 3 ", `"queue"`}},
		{"nothing happened", with(strings.Replace(lines[2], `"received"`, `""`, 1)), 2, []string{"line 3 ", "what"}},
		{"control characters", with("\x1b[2J\n"), 2, []string{"line 3 ", `\x1b`}},
		{"twice the same", strings.NewReader(text + text), len(steps), []string{"line 13 ", "step 1 comes after step 12", "two recordings"}},
		{"too long", with(strings.Repeat("x", lineLimit+1) + "\n"), 2, []string{"line 3 ", "too long"}},
		{"nothing", strings.NewReader("\n"), 0, []string{"is empty"}},
		{"a file that breaks", io.MultiReader(strings.NewReader(lines[0]), iotest.ErrReader(errors.New("bad disk"))), 1, []string{"line 2 ", "bad disk"}},
	} {
		got, err := ReadRecording(test.from)
		if diff := cmp.Diff(len(got), test.steps); diff != "" {
			t.Errorf("%s: %d steps, want %d", test.reason, len(got), test.steps)
		}
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%s: error %v, want one line with %q", test.reason, err, want)
			}
		}
	}
}
