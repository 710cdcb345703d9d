package page_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

type reader struct {
	*testing.T
	lines *bufio.Scanner
}

type event struct {
	id, name, raw string
	data          struct {
		Process, Recording, Shell string
		Steps                     []trace.Step
	}
}

func read(t *testing.T, url string, headers ...string) *reader {
	t.Helper()
	response := send(t, http.MethodGet, url, headers...)
	if contentType := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || contentType != "text/event-stream" {
		t.Fatalf("%s: %s, %s", url, response.Status, contentType)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &reader{t, lines}
}

func (r *reader) next() (e event) {
	r.Helper()
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.raw = value
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				r.Fatalf("%v in %s", err, value)
			}
		case "":
			if e.name != "" {
				return e
			}
		}
	}
	r.Fatalf("the stream has ended: %v", r.lines.Err())
	return e
}

// has fails the test unless the next events have the steps with these numbers.
func (r *reader) has(from, to int64) (last event) {
	r.Helper()
	var got, want []int64
	for n := from; n <= to; n++ {
		want = append(want, n)
	}
	for len(got) < len(want) {
		last = r.next()
		for _, step := range last.data.Steps {
			got = append(got, step.Seq)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("the steps (-want +got):\n%s", diff)
	}
	return last
}

func add(h *trace.History, from, to int64) {
	for n := from; n <= to; n++ {
		h.Add(&trace.Step{Seq: n})
	}
}

func TestStepsAndResume(t *testing.T) {
	recorder := trace.Replay()
	server := start(t, "127.0.0.1:0", recorder, page.Options{Recording: "a.json", Shell: "export A=b"})
	add(recorder, 1, 700)
	first := read(t, server.URL+"steps")
	hello := first.next()
	if d := hello.data; hello.name != "hello" || d.Process == "" || d.Recording != "a.json" || d.Shell != "export A=b" {
		t.Errorf("the first event is %s %s", hello.name, hello.raw)
	}
	first.has(1, 700)
	add(recorder, 701, 1000)
	last := first.has(701, 1000)

	// A browser that reconnects gets the later steps, or all steps of a new process.
	id := hello.data.Process + "-990"
	again := read(t, server.URL+"steps", "Last-Event-ID", id)
	again.next()
	if e := again.has(991, 1000); e.id != last.id {
		t.Errorf("the id is %q, want %q", e.id, last.id)
	}
	for _, id := range []string{"other-990", hello.data.Process + "-x", "-", "990"} {
		other := read(t, server.URL+"steps", "Last-Event-ID", id)
		other.next()
		other.has(1, 1000)
	}
	other := start(t, "127.0.0.1:0", recorder, page.Options{})
	if again := read(t, other.URL+"steps", "Last-Event-ID", id).next(); again.data.Process == hello.data.Process {
		t.Errorf("after a restart the first event is %s", again.raw)
	}
}

// An event has no markup and no line break. It is small enough that a browser can draw between two events.
func TestEvents(t *testing.T) {
	text := "</script><img src=x onerror=alert(1)>\n\nevent: hello\ndata: {}\r\n" + strings.Repeat("x", 10<<10)
	source := trace.Replay()
	for n := range int64(100) {
		source.Add(&trace.Step{Seq: n + 1, Text: text, Object: json.RawMessage("{\n\"a\": \"<b>\"\n}")})
	}
	r := read(t, start(t, "127.0.0.1:0", source, page.Options{}).URL+"steps")
	r.next()
	for last := int64(0); last < 100; {
		e := r.next()
		if strings.ContainsAny(e.raw, "<>\n\r") || len(e.raw) > 140<<10 || e.data.Steps[0].Text != text {
			t.Fatalf("%d bytes: %.500s", len(e.raw), e.raw)
		}
		last = e.data.Steps[len(e.data.Steps)-1].Seq
	}
}
