package observer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/trace"
)

func travel() []trace.Step {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	steps := []trace.Step{
		{Part: trace.PartProgram, What: trace.Leader, Text: "8 workers start"},
		{Part: trace.PartStream, What: trace.Opened, Kind: "Foo", Text: "list as a stream, then watch"},
		{Part: trace.PartStream, What: trace.Received, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Text: "ADDED", Version: "7"},
		{Part: trace.PartStore, What: trace.Added, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Text: "wants Deployment d, replicas 1; no status yet"},
		{Part: trace.PartQueue, What: trace.Added, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Depth: 1, Cause: "Foo foo added"},
		{Part: trace.PartWorker, What: trace.Got, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Text: "waited 1ms", Cause: "Foo foo added"},
		{Part: trace.PartReconcile, What: trace.Started, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Cause: "Foo foo added"},
		{Part: trace.PartRequest, What: trace.Sent, Kind: "Deployment", Key: "default/d", For: "Foo default/foo", Request: &trace.Request{Method: "POST", Path: "/apis/apps/v1/namespaces/default/deployments"}},
		{Part: trace.PartRequest, What: trace.Answered, Kind: "Deployment", Key: "default/d", For: "Foo default/foo", Text: "Created", Took: 3 * time.Millisecond, Request: &trace.Request{Status: 201, Bytes: 1466}},
		{Part: trace.PartReconcile, What: trace.Ended, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Text: "created Deployment d", Took: 4 * time.Millisecond},
		{Part: trace.PartWorker, What: trace.Done, Kind: "Foo", Key: "default/foo", For: "Foo default/foo", Text: "nothing waits for it", Took: 5 * time.Millisecond},
		{Part: trace.PartStore, What: trace.Updated, Kind: "Foo", Key: "a-namespace-with-a-name/that-is-longer-than-its-column", For: "other", Text: strings.Repeat("long ", 20), Cause: strings.Repeat("why ", 20)},
	}
	for i := range steps {
		steps[i].Seq, steps[i].Time = int64(i+1), start.Add(time.Duration(i)*250*time.Millisecond)
		steps[i].File, steps[i].Func = "file.go", "Func"
	}
	return steps
}

func printed(line *timeline, steps ...trace.Step) string {
	var out strings.Builder
	for _, step := range steps {
		out.WriteString(line.line(&step))
	}
	return out.String()
}

// The whole text, as it is when it is piped.
func TestTimeline(t *testing.T) {
	const want = `
   0.000s            program   leader                                      8 workers start                                                                                             file.go Func
   0.250s            stream    opened    Foo                               list as a stream, then watch                                                                                file.go Func
   0.500s            stream    received  Foo default/foo                   ADDED, version 7                                                                                            file.go Func
   0.750s +   0.250s store     added     Foo default/foo                   wants Deployment d, replicas 1; no status yet                                                               file.go Func
   1.000s +   0.250s queue     added     Foo default/foo                   1 in the queue                                            ← Foo foo added                                   file.go Func
   1.250s +   0.250s worker    got       Foo default/foo                   waited 1ms                                                ← Foo foo added                                   file.go Func
   1.500s +   0.250s reconcile started   Foo default/foo                                                                             ← Foo foo added                                   file.go Func
   1.750s +   0.250s request   sent      Deployment default/d              POST …/deployments                                                                                          file.go Func
   2.000s +   0.250s request   answered  Deployment default/d              201 Created, 3ms, 1466 bytes                                                                                file.go Func
   2.250s +   0.250s reconcile ended     Foo default/foo                   created Deployment d (4ms)                                                                                  file.go Func
   2.500s +   0.250s worker    done      Foo default/foo                   after 5ms, nothing waits for it                                                                             file.go Func
   2.750s            store     updated   Foo a-namespace-with-a-name/that… long long long long long long long long long long long l… ← why why why why why why why why why why why wh… file.go Func
`
	if diff := cmp.Diff(want[1:], printed(&timeline{}, travel()...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Nothing that comes from an object or a server can do anything to the terminal: no step, and no line
// of the log.
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
