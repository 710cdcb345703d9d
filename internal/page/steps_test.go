package page_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/page"
	"example.com/byhand/internal/trace"
)

// reader reads the events of /steps.
type reader struct {
	*testing.T
	lines  *bufio.Scanner
	Header http.Header
	cancel func()
}

// event is a server-sent event.
type event struct {
	id, name string
	data     struct {
		Process, Recording, Notice, Shell string
		Steps                             []trace.Step
	}
	raw string
}

func read(t *testing.T, url string, headers ...string) *reader {
	t.Helper()
	response, cancel := send(t, http.MethodGet, url, headers...)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	return &reader{T: t, lines: lines, Header: response.Header, cancel: cancel}
}

// next is the next event. Comments are skipped.
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

// seqs reads events until a step with that number and returns the numbers of all.
func (r *reader) seqs(last int64) (got []int64) {
	r.Helper()
	for {
		for _, step := range r.next().data.Steps {
			got = append(got, step.Seq)
			if step.Seq == last {
				return got
			}
		}
	}
}

func numbers(from, to int64) (all []int64) {
	for ; from <= to; from++ {
		all = append(all, from)
	}
	return all
}

// add adds steps with these numbers.
func add(h *trace.History, from, to int64) {
	for _, n := range numbers(from, to) {
		h.Add(&trace.Step{Seq: n})
	}
}

func TestStepsAndResume(t *testing.T) {
	recorder := trace.Replay()
	server := start(t, "127.0.0.1:0", recorder, page.Options{Notice: "hear", Shell: "export A=b"})
	add(recorder, 1, 700)

	first := read(t, server.URL+"steps")
	for header, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store"} {
		if got := first.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	hello := first.next()
	if hello.name != "hello" || hello.data.Process == "" || hello.data.Notice != "hear" || hello.data.Shell != "export A=b" {
		t.Errorf("the first event is %s %s", hello.name, hello.raw)
	}
	if diff := cmp.Diff(numbers(1, 700), first.seqs(700)); diff != "" {
		t.Errorf("steps that were kept (-want +got):\n%s", diff)
	}
	// Then each new one, to a second browser as well.
	second := read(t, server.URL+"steps")
	second.seqs(700)
	add(recorder, 701, 1000)
	for _, r := range []*reader{first, second} {
		if diff := cmp.Diff(numbers(701, 1000), r.seqs(1000)); diff != "" {
			t.Errorf("new steps (-want +got):\n%s", diff)
		}
	}

	// Who comes back gets what came after, by header as by query.
	first.cancel()
	id := hello.data.Process + "-990"
	for _, again := range []*reader{read(t, server.URL+"steps", "Last-Event-ID", id), read(t, server.URL+"steps?after="+id)} {
		again.next()
		e := again.next()
		if len(e.data.Steps) != 10 || e.data.Steps[0].Seq != 991 {
			t.Errorf("who comes back is sent %s", e.raw)
		}
		if want := hello.data.Process + "-1000"; e.id != want {
			t.Errorf("the id is %q, want %q", e.id, want)
		}
	}
	// Of another process nothing is known.
	for _, id := range []string{"other-990", hello.data.Process, hello.data.Process + "-x", "-", "990"} {
		stranger := read(t, server.URL+"steps", "Last-Event-ID", id)
		stranger.next()
		if e := stranger.next(); len(e.data.Steps) == 0 || e.data.Steps[0].Seq != 1 {
			t.Errorf("who comes with the id %q is sent %s", id, e.raw)
		}
	}
	// Another server is another process.
	other := start(t, "127.0.0.1:0", recorder, page.Options{})
	if again := read(t, other.URL+"steps", "Last-Event-ID", id).next(); again.data.Process == hello.data.Process {
		t.Errorf("after a restart a browser hears %s", again.raw)
	}
}

func TestStepsAreSafeInAStream(t *testing.T) {
	markup := "</script><img src=x onerror=alert(1)>\n\nevent: hello\ndata: {}\r\n\u2028"
	steps := []trace.Step{
		{Seq: 1, Time: time.Now(), Part: trace.PartStore, What: "added", Kind: "Foo", Key: markup, Text: markup, Object: json.RawMessage("{\n\"a\": \"<b>\"\n}")},
		{Seq: 2, Time: time.Now(), Part: trace.PartStore, What: "added", Kind: "Foo", Key: "x/y"},
	}
	server := start(t, "127.0.0.1:0", trace.Replay(steps...), page.Options{Recording: "a.jsonl"})
	r := read(t, server.URL+"steps")
	if hello := r.next(); hello.data.Recording != "a.jsonl" {
		t.Errorf("the first event is %s", hello.raw)
	}
	e := r.next()
	if e.name != "news" || len(e.data.Steps) != 2 || e.data.Steps[0].Text != markup {
		t.Errorf("the steps arrive as %s", e.raw)
	}
	if strings.ContainsAny(e.raw, "<>\n\r") {
		t.Errorf("markup stands in the stream: %s", e.raw)
	}
}

func TestLargeStepsTravelInSeveralEvents(t *testing.T) {
	var steps []trace.Step
	for n := range int64(100) {
		steps = append(steps, trace.Step{Seq: n + 1, Part: trace.PartStore, What: "added", Text: strings.Repeat("x", 10<<10)})
	}
	r := read(t, start(t, "127.0.0.1:0", trace.Replay(steps...), page.Options{}).URL+"steps")
	r.next()
	var got []int64
	for len(got) < 100 {
		e := r.next()
		if len(e.raw) > 140<<10 {
			t.Errorf("an event of %d bytes", len(e.raw))
		}
		for _, step := range e.data.Steps {
			got = append(got, step.Seq)
		}
	}
	if diff := cmp.Diff(numbers(1, 100), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
