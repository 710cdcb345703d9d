package trace

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recording returns twelve steps, and the same steps as JSON lines.
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

// A recording is read as it was written, even with additional fields of a later version.
func TestRecording(t *testing.T) {
	text, want := recording()
	for _, text := range []string{text, strings.TrimSuffix(text, "\n"), strings.ReplaceAll(text, `{"seq"`, `{"later":[1],"seq"`)} {
		got, err := ReadRecording(strings.NewReader(text))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Each error names its line, and the steps before it are read.
func TestRecordingMistakes(t *testing.T) {
	text, steps := recording()
	lines := strings.SplitAfter(text, "\n")
	with := func(third string) string { return lines[0] + lines[1] + third + lines[3] }
	for _, test := range []struct {
		reason, text string
		steps        int
		want         []string
	}{
		{"cut off", text[:len(text)-20], len(steps) - 1, []string{"line 12 of the recording: not a step in JSON: unexpected end"}},
		{"JSON without a step", with(`{"kind":"Foo"}` + "\n"), 2, []string{"line 3 ", "needs seq"}},
		{"an unknown part", with(strings.Replace(lines[2], `"part":"stream"`, `"part":"kitchen"`, 1)), 2, []string{"line 3 ", `"queue"`}},
		{"control characters", with("\x1b[2J\n"), 2, []string{"line 3 ", `\x1b`}},
		{"the same recording twice", text + text, len(steps), []string{"line 13 ", "step 1 comes after step 12", "two recordings"}},
		{"nothing", "\n", 0, []string{"is empty"}},
	} {
		got, err := ReadRecording(strings.NewReader(test.text))
		if len(got) != test.steps {
			t.Errorf("%s: %d steps, want %d", test.reason, len(got), test.steps)
		}
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%s: error %v, want one line with %q", test.reason, err, want)
			}
		}
	}
}
