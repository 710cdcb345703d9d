//go:build page

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/internal/observe/trace"
)

// badge waits for a step with that badge in the list of all steps.
func (b *tab) badge(text string) {
	b.Helper()
	b.sees("#steps .badge", text)
}

// travels waits for a token with the text.
func (b *tab) travels(text string) {
	b.Helper()
	b.witnessed("tokens", text)
}

// tellsAllOf fails unless the history in the panel has the first n steps, in order.
func (b *tab) tellsAllOf(n int) {
	b.Helper()
	var want []int
	for i := range n {
		want = append(want, i+1)
	}
	if diff := cmp.Diff(want, value[[]int](b, `[...document.querySelectorAll('#panel .entry')].map((e) => Number(e.dataset.seq))`)); diff != "" {
		b.Errorf("the steps of the history (-want +got):\n%s", diff)
	}
}

func TestHistoryOfAnObject(t *testing.T) {
	t.Parallel()
	s := newScript()
	f := example()
	s.add(f.born()...)
	cause := trace.Step{Part: trace.PartReconcile, What: "started", Kind: "Foo", Key: f.key(), For: "Foo " + f.key(), Cause: "Foo was updated", CauseSeq: 3}
	b := open(t, serve(t, s.History, page.Options{}), laptop)
	b.sees("#objects-table", "default/example-foo")
	// A step that arrives while the mouse is down does not replace the button under it.
	button := `#objects-table button[data-subject="Foo default/example-foo"]`
	b.mouse(button, input.DispatchMouseEventTypeMousePressed)
	s.add(append(f.scale(3), cause)...)
	b.sees("#when", fmt.Sprintf("step %d", len(s.kept)))
	b.mouse(button, input.DispatchMouseEventTypeMouseReleased)
	b.sees("#panel h2", "default/example-foo")

	b.tellsAllOf(len(s.kept))
	diff := `[...document.querySelectorAll('#panel .diff li')].map((li) => li.innerText.replace(/\s+/g, ' ')).filter((t) => t.startsWith('spec.replicas'))`
	if d := cmp.Diff([]string{"spec.replicas 1 3", "spec.replicas 1 3"}, value[[]string](b, diff)); d != "" {
		t.Errorf("the differences, the Foo's and the Deployment's (-want +got):\n%s", d)
	}
	b.sees("#panel .wire", "POST /apis/apps/v1/namespaces/default/deployments HTTP/1.1")
	b.sees("#panel .wire", "→ 201 Created")
	b.sees("#panel .badge", "its own write, coming back")
	b.sees("#panel .place", "controller/foo/reconcile.go Reconciler.Reconcile")

	// The link of the cause leads to its moment.
	b.click("#panel .cause .link")
	b.sees("#when", "step 3,")
	b.sees("#state", "paused")
}

func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	const markup = `<img src=x onerror="document.title='broken'">`
	s := newScript()
	f := &foo{namespace: "default", name: markup, deployment: `"><script>document.title='broken'</script>`, replicas: 1, version: 1,
		labels: map[string]string{"</pre><svg onload=alert(1)>": markup}}
	steps := f.born()
	for i := range steps {
		steps[i].Text, steps[i].Cause, steps[i].Func = markup, markup, markup
	}
	s.add(steps...)
	b := open(t, serve(t, s.History, page.Options{Notice: markup, Recording: markup}), laptop)
	b.sees("#state", "replay")
	b.click("#live")
	b.sees("#objects-table", markup)
	b.click("#objects-table button")
	b.sees("#panel .entry-text", markup)
	b.run(`document.querySelectorAll('details').forEach((d) => { d.open = true; })`)
	b.sees("#panel .wire", "</pre><svg onload=alert(1)>")
	b.click("#replay")
	b.travels(markup)
	b.sees("#notices", markup)
	if made := value[int](b, `document.querySelectorAll('img, body script, svg svg, [onload], [onerror]').length`); made != 0 {
		t.Errorf("%d elements were made from names", made)
	}
	if title := value[string](b, `document.title`); !strings.HasPrefix(title, "byhand") {
		t.Errorf("the title is %q: a name was run", title)
	}
}

func TestReloadRestartLoss(t *testing.T) {
	t.Parallel()
	s := newScript()
	f := example()
	s.add(f.born()...)
	address, stop := serveAt(t, "http://127.0.0.1:0", s.History, page.Options{})
	b := open(t, address, laptop)
	b.sees("#objects-table", "default/example-foo")

	b.do(chromedp.Reload())
	b.sees("#objects-table", "default/example-foo")
	if notices := value[string](b, `document.querySelector('#notices').textContent`); notices != "" {
		t.Errorf("after a reload the page says %q, want nothing: nothing happened", notices)
	}

	s.lose(7)
	s.add(f.scale(2)...)
	b.sees("#notices", "7 steps lost")

	stop()
	b.sees("#notices", "does not answer")
	b.sees("#state", "not connected")
	b.sees("#objects-table", "default/example-foo")

	again := newScript()
	other := &foo{namespace: "default", name: "after", deployment: "after", version: 1}
	again.add(other.born()...)
	serveAt(t, address, again.History, page.Options{})
	b.sees("#notices", "The program was restarted")
	b.sees("#objects-table", "default/after")
	b.sees("#state", "live")
	if rows := value[string](b, `document.querySelector('#objects-table').textContent`); strings.Contains(rows, "example-foo") {
		t.Error("objects of the program that ended are still listed")
	}
	// The browser's own messages about a refused connection.
	b.forgive("net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_RESET")
}

// TestRecording plays a whole life: requests travel, and rejections and deletions are visible.
func TestRecording(t *testing.T) {
	t.Parallel()
	s := newScript()
	f := example()
	for _, steps := range [][]trace.Step{f.born(), f.scale(3), f.conflict(), f.rename("renamed"), f.deleted()} {
		s.add(steps...)
	}
	const notice = "line 44 of the recording is cut off: what stands before it plays"
	b := open(t, serve(t, s.History, page.Options{Recording: "session.jsonl", Notice: notice}), laptop)
	b.sees("#state", "session.jsonl")
	b.sees("#notices", notice)
	// It plays by itself, slowly enough to read, and caption and slider show the same step.
	for _, badge := range []string{"new", "scaled 1 → 3", "renamed example-foo → renamed", "deleted", "409 Conflict"} {
		b.badge(badge)
	}
	// It stops at the end, and can be played again.
	b.sees("#state", "paused")
	for _, token := range []string{"POST", "409"} {
		b.travels(token)
	}
	b.witnessed("crosses", "deleted")
	b.sees(".part-request .part-number", "1 conflict")
	b.sees("#objects-table tr", "deleted")
	// The garbage collector deletes the Deployment.
	b.sees(".part-store .part-number", "1 object")
	if captions := value[int](b, `witness.captions.size`); captions < len(s.kept)-1 {
		t.Errorf("%d captions were seen, want one for each of %d steps", captions, len(s.kept))
	}
	b.forget()
	b.click("#replay")
	b.travels("POST")
}
