//go:build page

package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// play opens the playground from disk, with a link's state, and waits until the visitor can act.
func play(t *testing.T, l look, hash string) *tab {
	t.Helper()
	b := open(t, "file://"+filepath.ToSlash(filepath.Join(site(t), "index.html"))+hash, l)
	b.until(theirs)
	return b
}

// theirs is true when the visitor can act.
const theirs = `!document.querySelector('#visit').disabled && ` + lesson + `.dataset.phase === 'asks'`

// lesson is the visible lesson.
const lesson = `document.querySelector('#tour > form:not([hidden])')`

// row waits for a table row as kubectl prints it.
func (b *tab) row(table, text string) {
	b.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll('#%s tbody tr:not(.gone)')].some((row) => [...row.cells].map((cell) => cell.textContent).join(' ').trim() === %q)`, table, text))
}

// push presses a button, with the mouse or by keys.
func (b *tab) push(selector string) {
	b.Helper()
	if b.byKeys {
		b.press(selector, " ")
	} else {
		b.click(selector)
	}
}

// drawer opens the drawer of a button.
func (b *tab) drawer(button string) {
	b.Helper()
	if id := value[string](b, fmt.Sprintf(`((drawer) => drawer.matches(':popover-open') ? '' : drawer.id)(document.querySelector('%s').closest('.drawer'))`, button)); id != "" {
		b.push(fmt.Sprintf("[popovertarget=%s]", id))
	}
}

// acts opens the drawer of a button, fills the fields, presses the button and waits for the answer:
// "BUTTON [FOO DEPLOYMENT REPLICAS]".
func (b *tab) acts(words string) {
	b.Helper()
	do, fields, _ := strings.Cut(words, " ")
	button := `[data-do="` + do + `"]`
	b.drawer(button)
	for i, text := range strings.Fields(fields) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector('#%s').value = %q", []string{"foo", "deployment", "replicas"}[i], text)))
	}
	before := value[int](b, `document.querySelectorAll('#log .answered').length`)
	b.push(button)
	b.until(fmt.Sprintf(`document.querySelectorAll('#log .answered').length === %d`, before+1))
}

// The first screen of the site has the lesson, the picture, the objects and the process, and the panel
// links to the code. It works on any web server, also in a subfolder; the other tests open it
// from disk.
func TestPlaygroundLives(t *testing.T) {
	t.Parallel()
	folder := site(t)
	host := httptest.NewServer(http.StripPrefix("/folder/", http.FileServerFS(os.DirFS(folder))))
	t.Cleanup(host.Close)
	b := open(t, host.URL+"/folder/", look{width: 1440, height: 900})
	b.until(theirs)
	b.row("foos", "example-foo web 2 2 True Available")
	shown := value[string](b, `[...document.querySelectorAll('button, td, text, .who')].filter((e) => ((box) => box.height > 0 && box.bottom <= innerHeight)(e.getBoundingClientRect())).map((e) => e.textContent).join('|')`)
	for _, want := range []string{" leads", "API server", "Workers", "example-foo", "Delete the Deployment"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not on the first screen: %s", want, shown)
		}
	}
	b.click("[popovertarget=past]")
	b.sees("#objects-table", "default/example-foo")
	b.click(".part-queue")
	b.sees("#panel h2", "Queue")
	b.visit(folder, value[string](b, `document.querySelector('#panel .places a[href$="queue.go.html#Queue"]').getAttribute('href')`))
	b.arrives(`document.querySelector(':target .code')?.textContent.includes('type Queue interface')`)
}

// Each action of a visitor is a button or a switch, with the same result as in tools/playground/lab,
// which tests more of them. This test uses only keys, a narrow window and reduced motion; the others
// use a mouse.
func TestPlaygroundActions(t *testing.T) {
	t.Parallel()
	still := phone
	still.still = true
	b := play(t, still, "")
	b.byKeys = true
	b.row("foos", "example-foo web 2 2 True Available")
	b.run(`
		window.moving = 0;
		new MutationObserver(() => { moving += document.querySelectorAll('.token').length; }).observe(document.querySelector('.lane'), {childList: true});`)
	for _, test := range []struct{ do, table, want string }{
		{"create other theirs 1", "foos", "other theirs 1 1 True Available"},
		{"scale other theirs 3", "foos", "other theirs 3 3 True Available"},
		{"rename other renamed 3", "deployments", "renamed 3/3 3 nginx:1.29 Foo other"},
		{"delete-orphan other renamed 3", "deployments", "renamed 3/3 3 nginx:1.29"},
		{"take-name a mine 1", "deployments", "mine 1/1 1 theirs:1"},
		{"create a mine 1", "foos", "a mine 1 0 False NameTaken"},
		{"delete-deployment a mine 1", "foos", "a mine 1 1 True Available"},
		{"quota; delete-deployment a mine 1", "foos", "a mine 1 0 False Forbidden"},
		{"quota", "foos", "a mine 1 1 True Available"},
		{"hold; scale-deployment a mine 5", "deployments", "mine 5/5 5 nginx:1.29 Foo a"},
		{"hold", "deployments", "mine 1/1 1 nginx:1.29 Foo a"},
		{"cut; forget; start; kill; scale a mine 2", "foos", "a mine 2 2 True Available"},
		{"webhook; webhook; lose; lose; busy; scale a mine 3", "foos", "a mine 3 3 True Available"},
		{"busy; slow; scale a mine 4", "foos", "a mine 4 4 True Available"},
		{"set-image a mine 4", "deployments", "mine 4/4 4 nginx:1.29 Foo a"},
		{"deaf-to-deletion; deaf-to-names; no-retry; no-owner; no-rename; deletes-first; edge-triggered; exits-on-5xx; scale a mine 5", "foos", "a mine 5 5 True Available"},
		{"none; delete-foreground a mine 4; delete-background example-foo mine 4", "deployments", "renamed 3/3 3 nginx:1.29"},
	} {
		for words := range strings.SplitSeq(test.do, "; ") {
			b.acts(words)
		}
		b.row(test.table, test.want)
	}
	b.until(`document.querySelectorAll('#foos tr:not(.gone, .note) td').length === 0 && document.querySelectorAll('#deployments tbody tr:not(.gone, .note)').length === 1`)
	if moving := value[int](b, `moving`); moving > 0 {
		t.Errorf("%d things move", moving)
	}
}

// captions records each headline of the picture once, in order.
const captions = `
	window.headlines = [];
	new MutationObserver(() => {
		const text = document.querySelector('#caption strong')?.textContent.replaceAll('\u00a0', ' ');
		if (text && !headlines.includes(text)) { headlines.push(text); }
	}).observe(document.querySelector('#caption'), {subtree: true, childList: true});`

// act and next are the buttons of the visible lesson.
const (
	act  = "#tour > form:not([hidden]) .act"
	next = "#tour > form:not([hidden]) .next"
)

// plays answers and acts, with the mouse or by keys, and returns the captions until the result is
// shown. A starved process loses its Lease, and another continues with different captions: then the
// lesson is played again.
func (b *tab) plays(answer string) []string {
	b.Helper()
	const losses = `[...document.querySelectorAll('#log .refused')].filter((line) => line.textContent.includes('lost the lease')).length`
	for {
		b.until(lesson + `.dataset.phase === 'asks'`)
		lost := value[int](b, losses)
		b.push("#tour > form:not([hidden]) .guess " + answer)
		b.run("headlines = []")
		b.push(act)
		b.until(`['seen', 'lost'].includes(` + lesson + `.dataset.phase)`)
		if value[int](b, losses) == lost {
			return value[[]string](b, "headlines")
		}
		b.Log("the process has lost its Lease: again")
		b.push("#again")
		b.until(lesson + `.dataset.phase === 'sets'`)
	}
}

// In each lesson the visitor has to answer and to act. The picture plays the consequences of the action
// step by step, and stops on the lesson's step; then the result is shown. The test compares only
// captions whose order does not depend on the faster informer.
func TestPlaygroundLessons(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "")
	b.run(captions)
	for i, want := range []struct {
		captions  string
		row, last string
	}{
		{"DELETE Deployment web by you | Deployment web: deleted | The key joins the queue | A worker takes the key | The reconcile begins | POST Deployment web | POST Deployment web: created again", "deleted\u00a0→\u00a0created · ", "1 DELETE by you, "},
		{"List everything, then watch | The key joins the queue | The reconcile begins | PUT Deployment web | PUT Deployment web: scaled 5 → 2", "replicas 2\u00a0→\u00a03\u00a0→\u00a05\u00a0→\u00a02 · ", "Started a controller, "},
		{"PATCH Foo example-foo by you | Foo example-foo: scaled 3 → 4 | The reconcile begins | Look again in 1 s", "server: replicas 3 · the controller’s copy: replicas 2", "1 PATCH by you"},
		{"DELETE Foo example-foo by you | Foo example-foo: deleted | The key joins the queue | DELETE Deployment web by the garbage collector", "deleted · the garbage collector's DELETE", "1 DELETE by you, 1 DELETE by the garbage collector"},
		{"POST Foo example-foo by you | Foo example-foo: new | The key joins the queue | A worker takes the key | The reconcile begins | PUT status of Foo example-foo | PUT status of Foo example-foo: NameTaken", "NameTaken", "1 POST by you, "},
		{"PATCH Foo example-foo by you | Foo example-foo: scaled 2 → 4 | The key joins the queue | A worker takes the key | The reconcile begins | PUT Deployment web | PATCH Deployment web by another client | PUT Deployment web: 409 Conflict", "replicas 2\u00a0→\u00a04 · the controller's PUT", "1 PUT (409)"},
		{"DELETE Deployment web by you | Deployment web: deleted | The key joins the queue | A worker takes the key | The reconcile begins | POST Deployment web | POST Deployment web: 403 Forbidden | Retry in 5 ms | The key is back in the queue | Retry in 10 ms", "next try in ", " POSTs (403)"},
		{"410 Gone: these events are no longer kept | List everything, then watch | Deployment web: deleted | The reconcile begins | POST Deployment web | POST Deployment web: created again", "deleted\u00a0→\u00a0created · ", "1 POST "},
		{"PATCH Foo example-foo by you | List everything, then watch | Foo example-foo: in the first list | This process leads from now on", "replicas 2\u00a0→\u00a04 · the controller's PUT", ", 1 PATCH by you"},
		{"DELETE Deployment web by you | Deployment web: deleted | The handler ignores it: no key", "deleted · you", "1 DELETE by you"},
	} {
		b.sees("#nth", fmt.Sprintf("Lesson %d of 10", i+1))
		b.until(lesson + `.dataset.phase === 'asks'`)
		if value[bool](b, lesson+`.checkValidity()`) {
			t.Errorf("lesson %d: one can act before an answer is chosen", i+1)
		}
		got := b.plays([]string{"input:not([data-right])", "input[data-right]"}[i%2])
		left := strings.Split(want.captions, " | ")
		for _, caption := range got {
			if left[0] == caption && len(left) > 1 {
				left = left[1:]
			}
		}
		if len(left) > 1 || got[len(got)-1] != left[0] {
			t.Errorf("lesson %d: the captions are %q, want in this order %s", i+1, got, want.captions)
		}
		b.until(lesson + `.dataset.phase === 'seen'`)
		b.sees("#nth", fmt.Sprintf(" · %d ✓ %d ✗", (i+1)/2, (i+2)/2))
		b.until(fmt.Sprintf(lesson+`.querySelector('details').open === %t`, i%2 == 0)) // A wrong answer opens the explanation.
		b.sees("#last", want.last)
		b.sees(".objects tbody tr", want.row)
		b.click(next)
	}
	b.sees("#nth", "Puzzle")
	b.until(`location.hash === '#puzzle'`)
}

// The puzzle hides a bug, counts moves and guesses, and reveals the bug at the end.
func TestPlaygroundPuzzle(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "#puzzle")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("scale example-foo web 3")
	b.sees("#moves", "1")
	b.drawer("[data-do=no-retry]")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#wrong [data-do=none]').click()`))
	b.sees("#moves", "4")
	if named := value[int](b, `document.querySelectorAll('#wrong [aria-pressed=true], #on button').length`); named > 0 {
		t.Error("the bug is named before it is found")
	}
	b.do(chromedp.Evaluate[chromedp.Void](`for (const button of document.querySelectorAll('#wrong [data-send]')) { button.dataset.do !== 'none' && button.click(); }`))
	b.sees("#solved", " moves.")
	if told := value[string](b, `document.querySelector('#truth').innerText`); strings.Count(told, ".go") != 1 {
		t.Errorf("what is true of the bug: %s", told)
	}
	b.until(lesson + `.dataset.phase === 'seen'`)
}

// The whole first screen is in view without scrolling, and every text is readable, in the dark and on a phone.
func TestPlaygroundOneScreen(t *testing.T) {
	t.Parallel()
	const regions = "#lessons, .objects, #picture, #last, .drawers"
	b := play(t, laptop, "")
	b.run(captions)
	for _, test := range []struct {
		name string
		look
		seen string
	}{
		{"1280x800", look{width: 1280, height: 800, dark: true}, regions},
		{"390x844", phone, "#lessons, #picture"},
	} {
		b.turns(test.look)
		b.click("#again")
		b.until(lesson + `.dataset.phase === 'asks'`)
		b.shot(test.name)
		if below := value[[]string](b, `[...document.querySelectorAll('`+test.seen+`')].filter((e) => e.getBoundingClientRect().bottom > innerHeight).map((e) => e.id || e.className)`); len(below) > 0 {
			t.Errorf("%s: below the screen: %q", test.name, below)
		}
		b.plays("input:not([data-right])")
		b.until(lesson + `.dataset.phase === 'seen' && document.querySelectorAll('.token').length === 0`) // A token may cover a text.
		b.shot(test.name + "-seen")
		b.readable(test.name, 20)
	}
}
