//go:build page

package browser

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// recorded returns the steps with these numbers in the page's own recording, renumbered from 1. name replaces
// example-foo.
func recorded(t *testing.T, from, to int64, name string) (steps []trace.Step) {
	t.Helper()
	text, err := os.ReadFile("../../../internal/observe/page/recording.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := trace.ReadRecording(strings.NewReader(strings.ReplaceAll(string(text), "example-foo", name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range all {
		if step.Seq >= from && step.Seq <= to {
			step.Seq, step.CauseSeq = step.Seq-from+1, step.CauseSeq-from+1
			steps = append(steps, step)
		}
	}
	return steps
}

// The history of a Foo while a user scales it.
func TestHistoryOfAnObject(t *testing.T) {
	t.Parallel()
	b := open(t, serve(t, trace.Replay(recorded(t, 141, 229, "example-foo")...), page.Options{}), laptop)
	b.sees("#objects-table", "default/example-foo")
	b.click(`#objects-table button[data-subject="Foo default/example-foo"]`)
	b.sees("#panel h2", "default/example-foo")
	diff := `[...document.querySelectorAll('#panel .diff li')].map((li) => li.innerText.replace(/\s+/g, ' ')).filter((t) => t.startsWith('spec.replicas'))`
	if d := cmp.Diff([]string{"spec.replicas 1 3", "spec.replicas 1 3"}, value[[]string](b, diff)); d != "" {
		t.Errorf("the differences, the Foo's and the Deployment's (-want +got):\n%s", d)
	}
	b.sees("#panel .wire", "PUT /apis/apps/v1/namespaces/default/deployments/example-foo HTTP/1.1")
	b.sees("#panel .wire", "→ 200 OK")
	b.sees("#panel .badge", "its own write, coming back")
	b.sees("#panel .place", "controller/foo/reconcile.go Reconciler.Reconcile")

	// The link of a cause leads to its moment.
	b.click("#panel .cause .link")
	b.sees("#state", "paused")
}

func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	const markup = `</pre><img src=x onerror=document.title='broken'>`
	steps := recorded(t, 141, 229, markup)
	for i := range steps {
		steps[i].Text, steps[i].Cause, steps[i].Func = markup, markup, markup
	}
	b := open(t, serve(t, trace.Replay(steps...), page.Options{Recording: markup}), laptop)
	b.sees("#state", markup)
	b.click("#live")
	b.sees("#objects-table", markup)
	b.click("#objects-table button")
	b.sees("#panel .entry-text", markup)
	b.run(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`)
	b.sees("#panel .wire", markup)
	b.click("#replay")
	b.sees("#caption", markup)
	if made := value[int](b, `document.querySelectorAll('img, [onerror]').length`); made != 0 {
		t.Errorf("%d elements were made from names", made)
	}
	if title := value[string](b, `document.title`); !strings.HasPrefix(title, "byhand") {
		t.Errorf("the title is %q: a name was run", title)
	}
}

func TestReloadRestartLoss(t *testing.T) {
	t.Parallel()
	source := trace.Replay(recorded(t, 141, 200, "example-foo")...)
	address, stop := serveAt(t, "http://127.0.0.1:0", source, page.Options{})
	b := open(t, address, laptop)
	b.sees("#objects-table", "default/example-foo")

	b.do(chromedp.Reload())
	b.sees("#objects-table", "default/example-foo")
	if notices := value[string](b, `document.querySelector('#notices').textContent`); notices != "" {
		t.Errorf("after a reload the page says %q, want nothing: nothing happened", notices)
	}

	source.Add(&recorded(t, 141, 208, "example-foo")[67])
	b.sees("#notices", "7 steps lost")

	stop()
	b.sees("#notices", "does not answer")
	b.sees("#state", "not connected")
	b.sees("#objects-table", "default/example-foo")

	serveAt(t, address, trace.Replay(recorded(t, 141, 200, "after")...), page.Options{})
	b.sees("#notices", "The program was restarted")
	b.sees("#objects-table", "default/after")
	b.sees("#state", "live")
	if rows := value[string](b, `document.querySelector('#objects-table').textContent`); strings.Contains(rows, "example-foo") {
		t.Error("objects of the program that ended are still listed")
	}
	// The browser's own messages about a refused connection.
	b.forgive("net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET")
}

// A recording plays by itself, slowly enough to read: another client scales a Deployment, and the controller
// scales it back. It stops at the end, and can be played again.
func TestRecording(t *testing.T) {
	t.Parallel()
	steps := recorded(t, 280, 318, "example-foo")
	b := open(t, serve(t, trace.Replay(steps...), page.Options{Recording: "session.jsonl"}), laptop)
	b.sees("#state", "session.jsonl")
	b.run(captions)
	for _, badge := range []string{"scaled 3 → 7", "scaled 7 → 3"} {
		b.sees("#steps .badge", badge)
	}
	b.sees("#state", "paused")
	b.sees(".part-request .part-number", "3 sent")
	if read := value[[]string](b, "headlines"); !slices.Contains(read, "PUT Deployment example-foo: scaled 7 → 3") {
		t.Errorf("the captions are %q", read)
	}
	b.click("#replay")
	b.sees("#state", "replay")
}
