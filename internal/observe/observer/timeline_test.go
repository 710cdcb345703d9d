package observer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/trace"
)

func printed(line *timeline, steps ...trace.Step) string {
	var out strings.Builder
	for _, step := range steps {
		out.WriteString(line.line(&step))
	}
	return out.String()
}

// Each value is in its column, even after a text that is longer than its column.
func TestTimeline(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	const want = `
   0.000s            request   answered  Deployment default/d              201 Created, 3ms, 1466 bytes                                                                                file.go Func
   0.250s +   0.250s store     updated   Foo a-namespace-with-a-name/that… long long long long long long long long long long long l… ← why why why why why why why why why why why wh… file.go Func
`
	if diff := cmp.Diff(want[1:], printed(&timeline{},
		trace.Step{Time: start, Part: trace.PartRequest, What: trace.Answered, Kind: "Deployment", Key: "default/d", For: "Foo", Text: "Created", Took: 3 * time.Millisecond,
			Request: &trace.Request{Status: 201, Bytes: 1466}, File: "file.go", Func: "Func"},
		trace.Step{Time: start.Add(250 * time.Millisecond), Part: trace.PartStore, What: trace.Updated, Kind: "Foo", Key: "a-namespace-with-a-name/that-is-longer-than-its-column", For: "Foo",
			Text: strings.Repeat("long ", 20), Cause: strings.Repeat("why ", 20), File: "file.go", Func: "Func"},
	)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Text from an object or a server cannot control the terminal, neither in a step nor in a line of
// the log.
func TestTimelineIsHarmless(t *testing.T) {
	for bad, want := range map[string]string{
		"\x1b[2J":            "<U+001B>[2J",
		"a\rb\x00\x7f\u0085": "a<U+000D>b<U+0000><U+007F><U+0085>",
		"two\nlines\tmore":   "two lines more",
		"\u202egnp.exe":      "<U+202E>gnp.exe",
		"日本":                 "<U+65E5><U+672C>",
		"Größe … → ←":        "Größe … → ←",
	} {
		if got := Harmless(bad); got != want {
			t.Errorf("%q becomes %q, want %q", bad, got, want)
		}
		step := trace.Step{Part: trace.PartReconcile, What: bad, Kind: bad, Key: bad, Text: bad, Cause: bad, File: bad, Func: bad}
		if line := printed(&timeline{}, step); strings.Count(line, "\n") != 1 || strings.ContainsAny(strings.TrimSpace(line), "\x1b\r\n\x00") {
			t.Errorf("%q makes the line %q", bad, line)
		}
	}
	var log strings.Builder
	_, _ = HarmlessWriter(&log).Write([]byte("failed: err=<\n\tdenied\x1b[2J\n >\n"))
	if want := "failed: err=<\n denied<U+001B>[2J\n >\n"; log.String() != want {
		t.Errorf("the log is %q, want %q", log.String(), want)
	}
}
