//go:build page

package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// play opens the playground from disk, with a link's state, and waits until it is there and the
// page is the visitor's. What is in view for moments only is not noted.
func play(t *testing.T, l look, hash string) *tab {
	t.Helper()
	l.unwitnessed = true
	return playSeen(t, l, hash)
}

// playSeen is play with a witness.
func playSeen(t *testing.T, l look, hash string) *tab {
	t.Helper()
	b := open(t, "file://"+filepath.ToSlash(filepath.Join(site(t), "playground.html"))+hash, l)
	b.until(theirs)
	return b
}

// follows follows a link to another state, and waits until the page is the visitor's.
func (b *tab) follows(hash string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise((followed) => {
		addEventListener('hashchange', followed, {once: true});
		location.hash = %q;
	})`, hash), chromedp.EvalAwaitPromise))
	b.until(lesson + `.dataset.phase === 'asks'`)
}

// theirs says that the page is the visitor's.
const theirs = `!document.querySelector('#visit').disabled && ` + lesson + `.dataset.phase === 'asks'`

// lesson is the one that is shown.
const lesson = `document.querySelector('#tour > form:not([hidden])')`

// row waits for a row of a table, as kubectl prints it.
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

// drawer opens the drawer in which that button is.
func (b *tab) drawer(button string) {
	b.Helper()
	if id := value[string](b, fmt.Sprintf(`((drawer) => drawer.matches(':popover-open') ? '' : drawer.id)(document.querySelector('%s').closest('.drawer'))`, button)); id != "" {
		b.push(fmt.Sprintf("[popovertarget=%s]", id))
	}
}

// acts opens the drawer of a button, fills the fields, presses the button and waits for the
// answer: "BUTTON [FOO DEPLOYMENT REPLICAS]".
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

// It is the first page: a recording plays until the program lives, all that matters stands on the
// first screen, and the panel leads to the code. It lives on any web space, in a folder of it as
// well; the other tests open it from disk.
func TestPlaygroundLives(t *testing.T) {
	t.Parallel()
	folder := site(t)
	host := httptest.NewServer(http.StripPrefix("/folder/", http.FileServerFS(os.DirFS(folder))))
	t.Cleanup(host.Close)
	b := open(t, host.URL+"/folder/", look{width: 1440, height: 900})
	b.witnessed("words", "recording.json")
	b.row("foos", "example-foo web 2 2 True Available")
	shown := value[string](b, `[...document.querySelectorAll('button, td, text')].filter((e) => ((box) => box.height > 0 && box.bottom <= innerHeight)(e.getBoundingClientRect())).map((e) => e.textContent).join('|')`)
	for _, want := range []string{"API server", "Queue", "Workers", "example-foo", "Delete the Deployment"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not on the first screen: %s", want, shown)
		}
	}
	b.click("[popovertarget=time]")
	b.sees("#objects-table", "default/example-foo")
	b.click(".part-queue")
	b.sees("#panel h2", "Queue")
	b.visit(folder, value[string](b, `document.querySelector('#panel .places a[href$="queue.go.html#Queue"]').getAttribute('href')`))
	b.arrives(`document.querySelector(':target .code')?.textContent.includes('type Queue interface')`)
}

// Each thing that a visitor can do is a button or a switch, and leads to the same as in
// tools/playground/lab, where more of it is tested: by keys alone, where the window is narrow and
// motion is reduced. The other tests have a mouse.
func TestPlaygroundActions(t *testing.T) {
	t.Parallel()
	still := phone
	still.still = true
	b := play(t, still, "")
	b.byKeys = true
	b.row("foos", "example-foo web 2 2 True Available")
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
}

// In each lesson the visitor has to answer and to act, sees the result, and goes on. No lesson is
// over before its act.
func TestPlaygroundLessons(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "")
	for i, want := range []struct{ row, last string }{
		{"deleted → created · ", "1 DELETE by you, "},
		{"replicas 2 → 5 → 9 → 2 · ", "A controller is started, "},
		{"server: replicas 3 · the controller's store: replicas 2", "1 PATCH by you, "},
		{"deleted · the garbage collector's DELETE", "1 DELETE by you, 1 DELETE by the garbage collector, "},
		{"NameTaken", "1 POST by you, "},
		{"replicas 2 → 4 · the controller's PUT", "1 PUT (409), "},
		{"next try in ", " POSTs (403)"},
		{"deleted → created · ", "1 POST "},
		{"replicas 2 → 4 · the controller's PUT", " is killed, 1 PATCH by you, "},
		{"deleted · you", "1 DELETE by you, "},
	} {
		b.sees("#nth", fmt.Sprintf("Lesson %d of 10", i+1))
		b.until(lesson + `.dataset.phase === 'asks'`)
		if open := value[bool](b, lesson+`.checkValidity()`); open != (i == 0) {
			t.Errorf("lesson %d: before an answer is chosen one can act: %t", i+1, open)
		}
		b.click("#tour > form:not([hidden]) .guess " + []string{"input:not([data-right])", "input[data-right]"}[i%2])
		b.click("#tour > form:not([hidden]) .first")
		b.until(lesson + `.dataset.phase === 'seen'`)
		b.sees("#nth", fmt.Sprintf(" · %d ✓ %d ✗", (i+1)/2, (i+2)/2))
		b.until(fmt.Sprintf(lesson+`.querySelector('details').open === %t`, i%2 == 0)) // A wrong answer opens the explanation.
		b.shot(fmt.Sprint(i + 1))
		b.sees(".objects tbody tr", want.row)
		b.sees("#last", want.last)
		b.until(lesson + `.querySelector('.seen').getClientRects().length > 0`)
		b.click("#tour > form:not([hidden]) .first")
	}
	b.sees("#nth", "Puzzle")
	b.until(`location.hash === '#puzzle'`)
}

// The puzzle hides a bug, counts moves and guesses, and says in the end where it is.
func TestPlaygroundPuzzle(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "#puzzle")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("scale example-foo web 3")
	b.sees("#moves", "1")
	b.drawer("[data-do=no-retry]")
	if named := value[int](b, `document.querySelectorAll('#wrong [aria-pressed=true], #on button').length`); named > 0 {
		t.Error("the bug is named before it is found")
	}
	b.do(chromedp.Evaluate[chromedp.Void](`for (const button of document.querySelectorAll('#wrong [data-send]')) { button.dataset.do !== 'none' && button.click(); }`))
	b.sees("#solved", " moves.")
	const link = `document.querySelector('#challenge').getAttribute('href')`
	score, found := value[string](b, `document.querySelector('#solved').textContent`), value[string](b, link)
	if told := value[string](b, `document.querySelector('#truth').innerText`); strings.Count(told, ".go") != 1 {
		t.Errorf("what is true of the bug: %s", told)
	}
	b.until(lesson + `.dataset.phase === 'seen'`)
	b.shot("found")

	// The link has the score and the same bug, and does not name it.
	b.follows("#lesson=1")
	b.follows(found)
	moves := regexp.MustCompile(`\d+ moves`).FindString(score)
	b.sees("#beat", moves)
	if strings.Contains(found, "-") || !strings.HasSuffix(found, "&moves="+strings.Fields(moves)[0]) {
		t.Errorf("the link of %q is %s", score, found)
	}
	bug := strings.Fields(score)[1]
	b.drawer(`[data-do="` + bug + `"]`)
	b.push(`[data-do="` + bug + `"]`)
	b.sees("#solved", bug+" in 1 move.")
	b.click("#tour > form:not([hidden]) .first")
	b.until(`location.hash === '#puzzle' && document.querySelector('#beat').textContent === ''`)
}

// A lesson that cannot end reports that, and can be set up again.
func TestPlaygroundLessonDisturbed(t *testing.T) {
	t.Parallel()
	b := play(t, laptop, "#lesson=6")
	b.acts("kill") // Without a controller, the act of this lesson has no end.
	b.click(".drawer:popover-open .close")
	b.click("#tour > form:not([hidden]) .guess input")
	b.click("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'lost'`)
	b.click("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'asks'`)
	b.row("foos", "example-foo web 2 2 True Available")
}

// The whole first screen is in view without scrolling, no text of a lesson has three lines, and
// every text can be read, also in the drawers.
func TestPlaygroundOneScreen(t *testing.T) {
	t.Parallel()
	const regions = "#lessons, .objects, #picture, #last, .drawers"
	b := play(t, laptop, "")
	for _, test := range []struct {
		name string
		look
		seen string
	}{
		{"1440x900", look{width: 1440, height: 900}, regions},
		{"1280x720", look{width: 1280, height: 720, dark: true}, regions},
		{"390x844", phone, "#lessons, #picture, #deployments"},
	} {
		b.turns(test.look)
		b.click("#again")
		b.until(lesson + `.dataset.phase === 'asks'`)
		b.shot(test.name)
		if below := value[[]string](b, `[...document.querySelectorAll('`+test.seen+`')].filter((e) => e.getBoundingClientRect().bottom > innerHeight).map((e) => e.id || e.className)`); len(below) > 0 {
			t.Errorf("%s: below the screen: %q", test.name, below)
		}
		b.click("#tour > form:not([hidden]) .first")
		b.until(lesson + `.dataset.phase === 'seen' && document.querySelectorAll('.token').length === 0`) // A token may cover a text.
		const long = `[...document.querySelectorAll('#tour > form')].flatMap((form) => {
			const {hidden, dataset: {phase}} = form;
			form.hidden = false;
			const long = ['asks', 'seen'].flatMap((phase) => {
				form.dataset.phase = phase;
				return [...form.querySelectorAll('.say, .came, .seen > p')].filter((p) => p.offsetHeight > 2.2 * parseFloat(getComputedStyle(p).lineHeight)).map((p) => p.innerText);
			});
			form.hidden = hidden;
			form.dataset.phase = phase;
			return long;
		})`
		if texts := value[[]string](b, long); len(texts) > 0 {
			t.Errorf("%s: longer than two lines: %q", test.name, texts)
		}
		b.readable(test.name, 20)
		for _, drawer := range []string{"doing", "luck", "wrong", "editor", "kubectl", "time"} {
			b.click("[popovertarget=" + drawer + "]")
			b.readable(test.name+", "+drawer, 20)
			b.click(".drawer:popover-open .close")
		}
	}
}

// With less motion, by keys alone and without sight: nothing travels, and each step is in the caption;
// the focus moves to the next control; and a screen reader hears the result once, at the end.
func TestPlaygroundAccess(t *testing.T) {
	t.Parallel()
	b := playSeen(t, look{width: 1280, height: 720, still: true}, "")
	b.byKeys = true
	b.row("deployments", "web 2/2 2 nginx:1.29 Foo example-foo")
	order := strings.Join(b.tabs(), " ")
	for _, next := range []string{"later again", "It stays away", "Delete the Deployment", "example-foo", "Actions Bad luck Bugs YAML Log, link Replay", "server stream store handler queue worker reconcile request"} {
		_, rest, found := strings.Cut(order, next)
		if !found {
			t.Errorf("Tab does not go to %s in its place: %s", next, order)
		}
		order = rest
	}

	b.forget()
	b.run(`
		window.seen = {heard: [], moving: 0};
		new MutationObserver(() => seen.heard.push(document.querySelector('#heard').textContent)).observe(document.querySelector('#heard'), {childList: true});
		new MutationObserver(() => { seen.moving += document.querySelectorAll('.token').length; }).observe(document.querySelector('.play'), {subtree: true, childList: true});`)
	b.push("#tour > form:not([hidden]) .first")
	b.until(lesson + `.dataset.phase === 'seen' && document.activeElement === ` + lesson + `.querySelector('.first')`)
	b.sees("#heard", "1 DELETE by you, 1 POST ")
	b.sees("#heard", "web: deleted → created · ")
	b.witnessed("captions", "Deployment deleted")
	if heard := value[[]string](b, `seen.heard`); len(heard) > 3 {
		t.Errorf("one action is heard %d times: %q", len(heard), heard)
	}
	if moving := value[int](b, `seen.moving`); moving > 0 {
		t.Errorf("%d things move", moving)
	}
	b.push("#tour > form:not([hidden]) .first")
	b.sees("#nth", "Lesson 2")
	b.until(`document.activeElement.matches('[name=guess-1]')`)
}

// A correction is seen although it takes milliseconds, a key or an event that waits is named, and so
// is each switch that is on. The picture leaves out steps that are too late.
func TestPlaygroundShows(t *testing.T) {
	t.Parallel()
	b := playSeen(t, laptop, "")
	b.acts("scale-deployment example-foo web 7")
	b.sees("#deployments .note", "replicas 2 → 7 → 2 · ")
	b.sees("#last", "1 PATCH by you, ")
	b.sees("#last", " by the controller, ")

	b.acts("hold")
	b.acts("delete-deployment example-foo web 7")
	b.sees("#deployments .note", "server: gone · the controller's store: replicas 2")
	b.sees("#waits", "held back")
	b.sees("#caption", "held back")
	b.shot("held")
	b.click("#on button")
	b.until(`document.querySelectorAll('#on button').length === 0 && document.querySelector('#waits').textContent === ''`)

	b.acts("start")
	b.forget()
	b.acts("kill")
	b.witnessed("words", "s left")
	b.row("foos", "example-foo web 2 2 True Available")
	b.acts("quota")
	b.acts("delete-deployment example-foo web 7")
	b.sees("#foos .note", "next try in")
	b.sees(".part-queue", "0 keys wait, 1 in ")
	b.forget()
	b.do(chromedp.Evaluate[chromedp.Void](`for (let n = 0; n < 20; n++) { document.querySelector('[data-do=scale]').click(); }`))
	b.witnessed("tokens", "left out")
}

// The editor gets and applies an object, shows an error, and keeps a rejected text. The link of the
// state includes the applied texts.
func TestPlaygroundEditor(t *testing.T) {
	t.Parallel()
	b := play(t, phone, "#create+a+a+1")
	b.row("foos", "a a 1 1 True Available")
	b.acts("apply")
	b.row("foos", "written written 2 2 True Available")
	b.acts("get-foo a")
	const yaml, bad = `document.querySelector('#yaml').value`, "kind: Foo\nspec: {replica: "
	b.until(yaml + `.includes('\n  name: a\n')`)
	b.do(chromedp.Evaluate[chromedp.Void](yaml + ` = ` + yaml + `.replace('replicas: 1', 'replicas: 3')`))
	b.acts("apply")
	b.row("foos", "a a 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	b.do(chromedp.SetValue(chromedp.CSS("#yaml"), bad))
	b.click(`[data-do="apply"]`)
	b.sees("#refused", "yaml: line 2")
	if got := value[string](b, yaml); got != bad {
		t.Errorf("the editor has %q, want what was written", got)
	}
	b.shot("editor")

	b.follows("#lesson=1")
	b.follows(link[strings.Index(link, "#"):])
	b.row("foos", "a a 3 3 True Available")
	b.row("foos", "written written 2 2 True Available")
}

// A link leads to the same table, and one that says something else does nothing.
func TestPlaygroundLinks(t *testing.T) {
	t.Parallel()
	b := play(t, phone, "#create+a+b+1;scale+a+3")
	b.row("foos", "a b 3 3 True Available")
	link := value[string](b, `document.querySelector('#link').href`)
	if !strings.HasSuffix(link, "#create+a+b+1;scale+a+3") {
		t.Errorf("the link of this state is %s", link)
	}

	// A bug and bad luck, by their names, and what shows them.
	b.follows("#bug=no-retry&luck=refuse-creates,no-such-luck")
	b.sees("#truth div:not([hidden])", "the bug no-retry.It does not try again what has failed.")
	b.sees("#on", "Refuse creates")
	b.sees("#on", "bug no-retry")
	b.row("foos", "example-foo web 2 0 False Forbidden")
	b.drawer("[data-do=no-retry]")
	b.until(`[...document.querySelectorAll('#wrong .now')].filter((e) => e.checkVisibility()).map((e) => e.textContent).join().startsWith('Now refuse creates, delete')`)
	b.follows("#bug=edge-triggered")
	b.row("foos", "example-foo web 4 2 False WaitingForReplicas")
	b.sees("#steps", "sent nothing") // It has not compared, so it does not know that there is something to do.
	b.follows("#create+%3Cimg%20src=x%3E;drop+tables")
	b.row("foos", "example-foo web 2 2 True Available")
}

// Where the program cannot run the recording plays.
func TestPlaygroundWithoutProgram(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(site(t))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "playground", "part1.js")); err != nil {
		t.Fatal(err)
	}
	b := open(t, "file://"+filepath.Join(folder, "playground.html"), laptop)
	b.sees("#loading", "part1.js is not there")
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#picture")))
	b.sees("#state", "recording.json")
	b.until(`/step \d/.test(document.querySelector('#when').textContent)`)
	b.until(`document.querySelector('#visit').disabled`)
	b.forgive("ERR_FILE_NOT_FOUND")
}
